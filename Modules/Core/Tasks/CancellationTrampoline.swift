/// Does what asks for more of its kind, such as a cancellation that cancels the next task, without a stack as deep as that goes.
///
/// Each is done inside the one that asks for it, down to some depth. From there on the deepest does one after the other what
/// is asked for. Either way all is done when the first returns.
@usableFromInline
final class CancellationTrampoline {
  private static var maximumDepth: Int { 16 }

  private var depth = 0
  private var pending: [() -> Void] = []

  private init() {}

  /// Does `action`: now, or when the thread is done with those that are further along.
  @usableFromInline
  static func perform(_ action: @escaping () -> Void) {
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
