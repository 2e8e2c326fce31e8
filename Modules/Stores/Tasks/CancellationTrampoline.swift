/// Performs actions that start further actions, such as cancellations of further tasks and subscriptions to further
/// stores, with a bounded stack.
///
/// Up to a maximum depth, an action is performed at once, inside the action that starts it. At the maximum depth
/// actions are queued and performed one after another. In both cases all are done when the outermost call returns.
package final class CancellationTrampoline {
  private static var maximumDepth: Int { 16 }

  private var depth = 0
  private var pending: [() -> Void] = []

  private init() {}

  /// Performs `action` at once or, at the maximum depth, after the actions that are queued on this thread.
  package static func perform(_ action: @escaping () -> Void) {
    if let current = ThreadLocal.trampoline {
      return Unmanaged<CancellationTrampoline>.fromOpaque(current).takeUnretainedValue().perform(action)
    }
    let trampoline = CancellationTrampoline()
    ThreadLocal.trampoline = Unmanaged.passUnretained(trampoline).toOpaque()
    trampoline.perform(action)
    ThreadLocal.trampoline = nil
  }

  private func perform(_ action: @escaping () -> Void) {
    guard self.depth < Self.maximumDepth else { return self.pending.append(action) }
    self.depth += 1
    action()
    if self.depth == Self.maximumDepth {
      var next = 0
      while next < self.pending.count {
        self.pending[next]()
        next += 1
      }
      self.pending = []
    }
    self.depth -= 1
  }
}
