internal import AlcoveCore

/// A lock with a place to wait at, for threads that hand bytes to one another.
///
/// Unchecked: the pthread calls are made for use from any thread; both objects live at a fixed place until the end.
final class Gate: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Waits for `wake`; only within `locked`. May return for no reason.
    func wait() { pthread_cond_wait(condition, mutex) }

    /// The same, for so many seconds at most.
    func wait(seconds: Double) {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        let whole = min(max(seconds, 0), 1e6)
        let nanoseconds = Double(end.tv_nsec) + (whole - whole.rounded(.down)) * 1e9
        end.tv_sec += Int(whole) + Int(nanoseconds / 1e9)
        end.tv_nsec = Int(nanoseconds.truncatingRemainder(dividingBy: 1e9))
        pthread_cond_timedwait(condition, mutex, &end)
    }

    func wake() { pthread_cond_broadcast(condition) }
}
