/// A rule for a kind of operations with a state of its own, which stores rely on.
///
/// See `checkKind`.
@nonexhaustive(warn)
public enum KindRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The state is loading while a run is under way, and not before or after.
  case loading
  /// The value of a run is counted and dated as one update, and removes the error.
  case value
  /// The error of a run is counted and dated, and leaves the value as it is.
  case failure
  /// A cancelled run leaves the state as it was, also if it has yielded.
  case cancellation
  /// A value that is set during a run stays when that run is cancelled.
  case replay
  /// A reset restores the initial value and the counts, and cancels the runs.
  case reset
  /// Replacing the value temporarily changes nothing else. Only a state that is an `OverlayableState` can break it.
  case layers

  /// The name of the rule.
  public var description: String { self.rawValue }
}
