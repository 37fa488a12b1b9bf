import unittest
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(1, 1)
result = unittest.TextTestRunner(stream=open("log", "w")).run(unittest.defaultTestLoader.loadTestsFromTestCase(T))
print(result.wasSuccessful(), result.testsRun)
import doctest, argparse, logging, configparser, hashlib, hmac, base64, uuid, secrets, random, struct, zlib, bisect, heapq, copy, operator, inspect, ast, html, xml.etree.ElementTree as et, urllib.parse
random.seed(1); print(random.randint(1, 100), hashlib.sha256(b"a").hexdigest()[:8], base64.b64encode(b"x"), struct.pack(">I", 5), zlib.crc32(b"a"))
print(et.fromstring("<a><b c=\"1\"/></a>")[0].attrib, urllib.parse.quote("a b"), html.escape("<"), ast.literal_eval("[1]"), inspect.signature(lambda a, b=1: 0))
logging.warning("logged"); print(argparse.ArgumentParser(prog="p").format_usage(), end="")
