/// The notifications that a change of a store requires, without the result itself.
struct StoreChange: Sendable {
  /// The start or the end of a run, the end of one of its attempts, or the end of the store.
  enum Lifecycle: Sendable {
    case started
    case ended
    /// An attempt has failed, and another one follows. The context of the event contains the attempt.
    case attemptFailed
    /// The store was removed from its client, or no longer exists.
    case storeRemoved
  }

  /// Whether the state has changed.
  var isStateNew = false
  /// Whether the subscribers receive the result that was passed along with the change.
  var bringsResult = false
  var lifecycle: Lifecycle?
  /// Whether the result of a run has replaced the whole value.
  var isWholeResult = false
  /// Whether a run has set the value that began before an invalidation which another value had answered.
  var isLate = false
  /// Whether the state is new only by a layer, which is of now.
  var addsLayer = false

  init(isStateNew: Bool = false, bringsResult: Bool = false, lifecycle: Lifecycle? = nil) {
    self.isStateNew = isStateNew
    self.bringsResult = bringsResult
    self.lifecycle = lifecycle
  }

  var isEmpty: Bool { !self.isStateNew && !self.bringsResult && self.lifecycle == nil }
}
