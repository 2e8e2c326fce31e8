#if os(Linux)
  internal import OperationPlatform

  /// A thread with all signals blocked. Its last owner joins or detaches it, exactly once.
  struct LoopThread: Sendable {
    private let identifier: pthread_t

    init(name: StaticString, _ body: @escaping @Sendable () -> Void) throws(SystemFailure) {
      var (all, previous) = (sigset_t(), sigset_t())
      sigfillset(&all)
      // The new thread inherits the mask, so no signal can reach it before it blocks them.
      pthread_sigmask(SIG_SETMASK, &all, &previous)
      defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
      let start = Unmanaged.passRetained(ThreadStart(name, body))
      var identifier = pthread_t()
      let status = pthread_create(&identifier, nil, { runLoopThread($0) }, start.toOpaque())
      guard status == 0 else {
        start.release()
        throw SystemFailure(call: "pthread_create", code: status)
      }
      self.identifier = identifier
    }

    /// Whether this is the calling thread.
    var isCurrent: Bool { pthread_equal(self.identifier, pthread_self()) != 0 }

    func join() {
      pthread_join(self.identifier, nil)
    }

    func detach() {
      pthread_detach(self.identifier)
    }
  }

  private final class ThreadStart: Sendable {
    let name: StaticString
    let body: @Sendable () -> Void

    init(_ name: StaticString, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  private func runLoopThread(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let pointer else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(pointer).takeRetainedValue()
    nameCurrentThread(start.name)
    start.body()
    return nil
  }

  /// Sets the name of the thread for debuggers and `ps`, at most 15 bytes.
  private func nameCurrentThread(_ name: StaticString) {
    let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, name.utf8Start, name.utf8CodeUnitCount)
    close(file)
  }
#endif
