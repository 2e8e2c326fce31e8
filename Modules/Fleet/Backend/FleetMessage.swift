/// Tells a node to look at its ``FleetBackend`` earlier than it would.
///
/// A lease is awaited from the first request that is refused because of it until the next lease of the key. Values and
/// released leases are announced only if a node waits, or if that was asked for: most runs cost no message.
@nonexhaustive(warn)
public enum FleetMessage: Hashable, Sendable {
  /// There was an invalidation with this epoch, or a higher one.
  ///
  /// The node asks ``FleetBackend/invalidations(since:)``, once for all messages that arrive until the answer.
  case invalidated(FleetEpoch)

  /// A value of the key with this text was stored, with this revision or a higher one.
  case stored(key: String, revision: Int64)

  /// A lease of the key with this text has ended without a value.
  case released(key: String)

  /// Messages may have been lost. The node asks for invalidations, and looks for the values that it waits for.
  case missed
}
