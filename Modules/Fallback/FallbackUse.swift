/// What a fallback may be used for, besides being shown and returned.
@nonexhaustive(warn)
public enum FallbackUse: Hashable, Sendable {
  /// Nothing else. It is never fresh, so the next reader runs the operation again. It is not stored, handed over, or
  /// shared with other nodes: a value that is there stays.
  case shown
  /// It is fresh for some time after it came, as far as the staleness rules of the operation allow. It stays in memory.
  /// A negative duration counts as zero.
  case fresh(for: Duration)
  /// It is used as the result of the operation is: fresh by the same rules, stored and shared.
  case asValue
}

extension FallbackUse {
  /// How long a fallback is fresh; nil if that is not said.
  var freshness: Duration? { if case .fresh(let duration) = self { duration } else { nil } }
}
