/// A rule for nodes of the graph of waits, which the search for cycles relies on.
///
/// See `checkWaitNode`.
@nonexhaustive(warn)
public enum WaitNodeRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// The node waits for nothing before a first run has come, and after the last run has left, also with an error.
  case edges
  /// `waits` names the run that has the turn, with and without others that wait.
  case holder
  /// One run has the turn at a time, and the next one gets it when that run leaves.
  case turns
  /// A wait that would close a cycle through the node ends with an error, whichever of the waits began first.
  case cycles
  /// A run that is cancelled while it waits ends at once, gets no turn, and leaves nothing. If it is cancelled after it has got
  /// the turn and before it goes on, no other run has the turn at the same time.
  case cancellation

  /// The name of the rule.
  public var description: String { self.rawValue }
}
