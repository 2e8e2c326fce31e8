/// What a change of a store has to tell its subscribers, beside the result that it was given.
@usableFromInline
struct StoreChange: Sendable {
  /// A turn of a run.
  @usableFromInline
  enum Lifecycle: Sendable {
    case started
    case ended
  }

  @usableFromInline var isStateNew = false
  /// Whether the result that the change was given counts.
  @usableFromInline var bringsResult = false
  @usableFromInline var lifecycle: Lifecycle?

  @inlinable
  init(isStateNew: Bool = false, bringsResult: Bool = false, lifecycle: Lifecycle? = nil) {
    self.isStateNew = isStateNew
    self.bringsResult = bringsResult
    self.lifecycle = lifecycle
  }

  @inlinable
  var isEmpty: Bool { !self.isStateNew && !self.bringsResult && self.lifecycle == nil }
}
