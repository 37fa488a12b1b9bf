import asyncio, concurrent.futures, contextlib, queue, threading, time
async def one(n):
    await asyncio.sleep(0.01 * n)
    return n * n
async def main():
    print(await asyncio.gather(*(one(n) for n in range(4))))
    async with asyncio.timeout(5):
        await asyncio.sleep(0)
asyncio.run(main())
with concurrent.futures.ThreadPoolExecutor(3) as pool: print(list(pool.map(lambda x: x + 1, range(5))))
box = queue.Queue(); thread = threading.Thread(target=lambda: [box.put(n) for n in range(3)]); thread.start(); thread.join(); print([box.get() for _ in range(3)])
@contextlib.contextmanager
def within():
    print("in"); yield 5; print("out")
with within() as value: print(value)
print(time.monotonic() > 0, time.strftime("%Y", time.gmtime(0)))
