#if os(Linux)
  internal import OperationPlatform

  /// Blocks a thread until another thread opens the latch.
  final class Latch: @unchecked Sendable {
    // Unchecked because the variables are only accessed with the mutex held, and the pointers never change.

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isOpen = false
    private var endedThread: LoopThread?

    init() {
      self.mutex.initialize(to: pthread_mutex_t())
      self.condition.initialize(to: pthread_cond_t())
      pthread_mutex_init(self.mutex, nil)
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(self.condition, &attributes)
      pthread_condattr_destroy(&attributes)
    }

    deinit {
      pthread_cond_destroy(self.condition)
      pthread_mutex_destroy(self.mutex)
      self.condition.deallocate()
      self.mutex.deallocate()
    }

    /// Waits until the latch is open, and returns the thread to join, if any.
    func wait() -> LoopThread? {
      pthread_mutex_lock(self.mutex)
      defer { pthread_mutex_unlock(self.mutex) }
      while !self.isOpen { pthread_cond_wait(self.condition, self.mutex) }
      return self.endedThread
    }

    /// Waits for at most `duration`, and returns whether the latch is open.
    func isOpened(within duration: Duration) -> Bool {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      let end = Duration.seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) + duration
      (time.tv_sec, time.tv_nsec) = (Int(end.components.seconds), Int(end.components.attoseconds / 1_000_000_000))
      pthread_mutex_lock(self.mutex)
      defer { pthread_mutex_unlock(self.mutex) }
      while !self.isOpen, pthread_cond_timedwait(self.condition, self.mutex, &time) == 0 {}
      return self.isOpen
    }

    /// Resumes the waiting thread, and passes it a thread to join.
    func open(_ endedThread: LoopThread?) {
      pthread_mutex_lock(self.mutex)
      defer { pthread_mutex_unlock(self.mutex) }
      self.isOpen = true
      self.endedThread = endedThread
      pthread_cond_signal(self.condition)
    }
  }
#endif
