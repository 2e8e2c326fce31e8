public import OperationCore

/// The scheduled operation that a run belongs to. The innermost preparation of the run reports the start of its body.
@usableFromInline
struct ScheduledStart: Sendable {
  let node: ScheduledNode
}

extension OperationContext {
  /// The scheduled operation that the innermost preparation reports the start to; nil if there is none.
  var scheduledStart: ScheduledStart? {
    get { self[ScheduledStartKey.self] }
    set { self[ScheduledStartKey.self] = newValue }
  }

  @inlinable
  var hasScheduledStart: Bool { self.isSet(ScheduledStartKey.self) }

  @usableFromInline
  enum ScheduledStartKey: Key {
    @usableFromInline static let defaultValue: ScheduledStart? = nil
  }
}
