#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What the runtime has to know of the thread that it is on.
@usableFromInline
enum ThreadLocal {
  /// How deep runs may begin inside one another on one thread before they are enqueued, to save its stack.
  @usableFromInline static var maximumDepth: Int { 24 }

  #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// A name for the current thread that no other living thread has; never 0.
    @usableFromInline static var currentThread: UInt {
      #if canImport(Glibc) || canImport(Android)
        UInt(pthread_self())
      #else
        UInt(bitPattern: pthread_self())
      #endif
    }

    /// Where the thread counts the runs that it has begun inside one another.
    @usableFromInline static var depth: UnsafeMutablePointer<Int> {
      if let place = pthread_getspecific(self.depthKey) { return place.assumingMemoryBound(to: Int.self) }
      return self.makeDepth()
    }

    private static func makeDepth() -> UnsafeMutablePointer<Int> {
      let depth = self.makeCounter()
      let status = pthread_setspecific(self.depthKey, depth)
      precondition(status == 0, "The thread cannot keep how deep its runs are (pthread_setspecific: \(status)).")
      return depth
    }

    /// Where the thread keeps what it has still to let go of, while it lets go of a chain of tasks.
    static var unraveling: UnsafeMutableRawPointer? {
      get { pthread_getspecific(self.unravelingKey) }
      set { pthread_setspecific(self.unravelingKey, newValue) }
    }

    /// The cancellations that the thread is in the midst of.
    static var trampoline: UnsafeMutableRawPointer? {
      get { pthread_getspecific(self.trampolineKey) }
      set { pthread_setspecific(self.trampolineKey, newValue) }
    }

    // The place of the depth goes with its thread.
    #if canImport(Darwin)
      private typealias Destructor = @convention(c) (UnsafeMutableRawPointer) -> Void
      private static let depthKey = makeKey { $0.deallocate() }
    #else
      private typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void
      private static let depthKey = makeKey { $0?.deallocate() }
    #endif
    private static let unravelingKey = makeKey()
    private static let trampolineKey = makeKey()

    private static func makeKey(_ destructor: Destructor? = nil) -> pthread_key_t {
      var key = pthread_key_t()
      let status = pthread_key_create(&key, destructor)
      precondition(status == 0, "The process has no thread-specific key left (pthread_key_create: \(status)).")
      return key
    }
  #else
    // A system without threads.
    @usableFromInline static var currentThread: UInt { 1 }
    @usableFromInline nonisolated(unsafe) static let depth = makeCounter()  // The one thread's.
    nonisolated(unsafe) static var unraveling: UnsafeMutableRawPointer?  // The one thread's.
    nonisolated(unsafe) static var trampoline: UnsafeMutableRawPointer?  // The one thread's.
  #endif

  private static func makeCounter() -> UnsafeMutablePointer<Int> {
    let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    counter.initialize(to: 0)
    return counter
  }
}
