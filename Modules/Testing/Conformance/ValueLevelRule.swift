/// A rule for levels, which stores rely on.
///
/// See `checkValueLevel`.
@nonexhaustive(warn)
public enum ValueLevelRule: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
  /// A value that was put is returned with its bytes, under its own key, at once and after a flush.
  case values
  /// What is known of a value comes back with it: its kind, its freshness and its tags. One that was set may come back as
  /// one that a run has returned.
  case stamps
  /// The date of a value comes back with it.
  ///
  /// A level that keeps the dates inside its bytes, and so answers no demand for an age, breaks this rule on purpose.
  case dates
  /// An answer meets the demand.
  case demands
  /// Of several values of a key, the last one that was put counts, also if it removes the value.
  case replacement
  /// `put` calls neither `bytes` nor `tags`.
  case unlocked
  /// A value that has not seen an invalidation is not returned as fresh, whether it was put before or after. One that has
  /// seen it is.
  case invalidation
  /// Neither an unconfirmed value nor a fallback is kept, and neither replaces what is there.
  case refusal
  /// What was removed does not come back, nor does what was being written; other values stay.
  case removal
  /// A look-up that was cancelled leaves no right.
  case rights
  /// A flush makes values, removals and invalidations durable: a level that is opened again knows them.
  case reopening
  /// Several tasks may use the level at the same time.
  case concurrency

  /// The name of the rule.
  public var description: String { self.rawValue }
}
