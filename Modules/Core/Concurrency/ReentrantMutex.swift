import Synchronization

/// A mutex that its owner may enter again.
///
/// ``withLock(_:)`` is a plain mutex. ``withExclusiveAccess(_:)`` runs foreign code while it holds the mutex, and each
/// entry that this code makes from the same thread, of either kind, goes straight through.
struct ReentrantMutex<Value: Sendable>: ~Copyable {
  private let mutex: Mutex<Value>
  /// The thread that has exclusive access, and where it finds the value. Written by that thread only.
  private let owner = Atomic<UInt>(0)
  private let location = Atomic<UInt>(0)

  init(_ value: Value) {
    self.mutex = Mutex(value)
  }

  /// Whether the current thread has exclusive access.
  var isOwnedByCurrentThread: Bool {
    let owner = self.owner.load(ordering: .relaxed)
    // Only this thread could have written its own name, so a relaxed load cannot mistake another's for it.
    return owner != 0 && owner == ThreadLocal.currentThread
  }

  /// Runs `body`, which must not call foreign code, with the value.
  func withLock<R>(_ body: (inout Value) -> R) -> R {
    if self.isOwnedByCurrentThread, let value = self.ownedValue {
      return body(&value.pointee)
    }
    return self.mutex.withLock { value in Unsent(body(&value)) }.value
  }

  /// Runs `body`, which may call anything, and keeps other threads out until it returns.
  func withExclusiveAccess<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    if self.isOwnedByCurrentThread { return try body() }
    let outcome: Result<R, E> = self.mutex.withLock { value in
      withUnsafeMutablePointer(to: &value) { pointer in
        self.location.store(UInt(bitPattern: pointer), ordering: .relaxed)
        self.owner.store(ThreadLocal.currentThread, ordering: .relaxed)
        defer {
          self.owner.store(0, ordering: .relaxed)
          self.location.store(0, ordering: .relaxed)
        }
        do throws(E) { return Unsent(Result<R, E>.success(try body())) } catch { return Unsent(.failure(error)) }
      }
    }.value
    return try outcome.get()
  }

  private var ownedValue: UnsafeMutablePointer<Value>? {
    UnsafeMutablePointer(bitPattern: self.location.load(ordering: .relaxed))
  }
}

/// Carries a result out of `Mutex.withLock` on the thread that took the lock.
private struct Unsent<Value>: @unchecked Sendable {
  // Unchecked because it never leaves the thread: it only crosses the closure that the lock calls.
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
