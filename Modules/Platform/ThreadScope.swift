internal import Synchronization

/// A part of the work of a thread, which may contain others: actions can be put off until the outermost one has ended.
///
/// What changes a store and what then changes other stores on the same thread are one scope, so that readers elsewhere can be
/// notified of all of it at once.
package struct ThreadScope: Sendable {
  private struct Content: Sendable {
    var depth = 0
    var actions: [@Sendable () -> Void] = []
  }

  private static let contents = Mutex<[UInt: Content]>([:])

  private let thread: UInt

  /// Begins a scope of the current thread. The caller ends it.
  package init() {
    let thread = CurrentThread.identifier
    self.thread = thread
    Self.contents.withLock { $0[thread, default: Content()].depth += 1 }
  }

  /// Ends the scope. If it is the outermost one, performs the actions that were put off.
  package func end() {
    let actions = Self.contents.withLock { [thread] contents -> [@Sendable () -> Void] in
      guard let depth = contents[thread]?.depth, depth == 1 else {
        contents[thread]?.depth -= 1
        return []
      }
      return contents.removeValue(forKey: thread)?.actions ?? []
    }
    for action in actions { action() }
  }

  /// Puts an action off until the outermost scope of the current thread has ended.
  ///
  /// - Parameter action: The action. The thread that ends the scope performs it, with no lock held.
  /// - Returns: Whether the thread has a scope. If not, the action is dropped.
  package static func putOff(_ action: @escaping @Sendable () -> Void) -> Bool {
    let thread = CurrentThread.identifier
    return self.contents.withLock { contents in
      guard contents[thread] != nil else { return false }
      contents[thread]?.actions.append(action)
      return true
    }
  }
}
