internal import OperationPlatform

/// Thread-local values of the library.
@usableFromInline
package enum ThreadLocal {
  /// The maximum nesting of runs that start on one thread. Deeper runs are enqueued, to save stack space.
  package static var maximumDepth: Int { 24 }

  /// An identifier of the current thread that is unique among living threads; never 0.
  @usableFromInline package static var currentThread: UInt { CurrentThread.identifier }

  #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
    /// The current nesting of runs that start on this thread.
    package static var depth: UnsafeMutablePointer<Int> {
      if let place = pthread_getspecific(self.depthKey) { return place.assumingMemoryBound(to: Int.self) }
      return self.makeDepth()
    }

    private static func makeDepth() -> UnsafeMutablePointer<Int> {
      let depth = self.makeCounter()
      let status = pthread_setspecific(self.depthKey, depth)
      precondition(status == 0, "The thread cannot keep how deep its runs are (pthread_setspecific: \(status)).")
      return depth
    }

    /// The tasks that the thread has yet to release while it releases a chain of tasks; nil otherwise.
    package static var pendingReleases: UnsafeMutableRawPointer? {
      get { pthread_getspecific(self.pendingReleasesKey) }
      set { pthread_setspecific(self.pendingReleasesKey, newValue) }
    }

    /// The ``CancellationTrampoline`` that is active on the thread; nil otherwise.
    package static var trampoline: UnsafeMutableRawPointer? {
      get { pthread_getspecific(self.trampolineKey) }
      set { pthread_setspecific(self.trampolineKey, newValue) }
    }

    // The memory of the depth is deallocated when its thread ends.
    #if canImport(Darwin)
      private typealias Destructor = @convention(c) (UnsafeMutableRawPointer) -> Void
      private static let depthKey = makeKey { $0.deallocate() }
    #else
      private typealias Destructor = @convention(c) (UnsafeMutableRawPointer?) -> Void
      private static let depthKey = makeKey { $0?.deallocate() }
    #endif
    private static let pendingReleasesKey = makeKey()
    private static let trampolineKey = makeKey()

    private static func makeKey(_ destructor: Destructor? = nil) -> pthread_key_t {
      var key = pthread_key_t()
      let status = pthread_key_create(&key, destructor)
      precondition(status == 0, "The process has no thread-specific key left (pthread_key_create: \(status)).")
      return key
    }
  #else
    // A system without threads.
    package static var depth: UnsafeMutablePointer<Int> { self.values.depth }

    // Unchecked because the only thread uses them.
    private final class Values: @unchecked Sendable {
      let depth = makeCounter()
      var pendingReleases: UnsafeMutableRawPointer?
      var trampoline: UnsafeMutableRawPointer?
    }

    private static let values = Values()
    package static var pendingReleases: UnsafeMutableRawPointer? {
      get { self.values.pendingReleases }
      set { self.values.pendingReleases = newValue }
    }
    package static var trampoline: UnsafeMutableRawPointer? {
      get { self.values.trampoline }
      set { self.values.trampoline = newValue }
    }
  #endif

  private static func makeCounter() -> UnsafeMutablePointer<Int> {
    let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    counter.initialize(to: 0)
    return counter
  }
}
