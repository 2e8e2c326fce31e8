/// Does what asks for more of its kind, such as a cancellation that cancels the next task, without a stack as deep as that goes.
///
/// Each is done inside the one that asks for it, down to some depth. From there on the deepest does one after the other what
/// is asked for. Either way all is done when the first returns.
@usableFromInline
final class Cascade {
  private static var maximumDepth: Int { 16 }

  private var depth = 0
  private var pending: [() -> Void] = []

  private init() {}

  /// Does `action`: now, or when the thread is done with those that are further along.
  @usableFromInline
  static func perform(_ action: @escaping () -> Void) {
    if let current = ThreadLocal.cascade {
      return Unmanaged<Cascade>.fromOpaque(current).takeUnretainedValue().perform(action)
    }
    let cascade = Cascade()
    ThreadLocal.cascade = Unmanaged.passUnretained(cascade).toOpaque()
    cascade.perform(action)
    ThreadLocal.cascade = nil
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
