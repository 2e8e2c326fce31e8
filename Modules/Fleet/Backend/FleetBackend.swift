public import OperationCore

/// Keeps the values, leases and invalidations that the nodes of a fleet share: a database, or an `InMemoryFleet`.
///
/// A node is a client of one process that has joined the fleet. The backend decides what needs agreement, and each of
/// its methods does so in one step: of several calls at once, from any process, one comes first. Nodes compare epochs,
/// revisions and tokens, never clocks: all times are durations by the clock of the backend.
///
/// - **Keys and subjects.** A ``FleetKey`` names a value and the ``FleetSubject``s that it belongs to. A stored value has
///   further subjects, its tags. An invalidation names subjects, and concerns a value if they share one. Subjects are
///   compared byte by byte; no backend needs to know what a prefix is.
/// - **Epochs.** Each invalidation has the next ``FleetEpoch``. It takes effect in that order: whoever sees an epoch, in
///   any answer, is answered with all lower ones in effect. A value has the epoch that its run has seen before it began,
///   and is fresh if no invalidation of one of its subjects has a higher one.
/// - **Forgetting.** A backend keeps, for each subject, the last invalidation. It may forget those up to an epoch, its
///   *floor*, and then treats all work that has seen a lower epoch than the floor as invalidated. A backend that may have
///   lost something, as after a crash, begins with a new epoch as its floor. Epochs and tokens never go back.
/// - **Failures.** A method throws if the backend cannot be reached, and may have had its effect then. Nodes call it
///   again, or go on alone. No method waits for another node. A cancelled call may return at any time.
public protocol FleetBackend: AnyObject, Sendable {
  /// Looks up values.
  ///
  /// - Parameter keys: The keys, at least one and at most ``FleetLimits/batch``.
  /// - Returns: The value of each key that has a fresh one, in the order of the keys, and the epoch of this moment.
  /// - Throws: An error if the backend cannot answer.
  nonisolated(nonsending) func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup

  /// Takes the lease for a key, unless there is a fresh value or another owner holds the lease.
  ///
  /// A fresh value comes first, whoever holds the lease. A lease that has ended by the clock of the backend is free.
  /// An owner that holds the lease and asks again, as after a lost answer, holds it from now on for the duration:
  /// with the same token, or with a new one that makes the former one old.
  ///
  /// A refused request makes the lease an awaited one: see ``FleetMessage``.
  ///
  /// - Parameter request: The key, the owner and the duration.
  /// - Returns: The lease with a higher token than all before it, and the epoch of this moment, which the run then has
  ///   seen; or the value; or who holds the lease, and for how long.
  /// - Throws: An error if the backend cannot answer. The lease may have been granted then, and ends by its time.
  nonisolated(nonsending) func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer

  /// Takes the leases of several keys, each as ``acquireLease(_:)`` does.
  ///
  /// Nodes ask with this call alone: the runs that begin while others are asked for gather for the next call. By default the
  /// values are looked up with one call, and then the leases are asked for one by one, 16 at a time. Implement it with one
  /// call where the backend can.
  ///
  /// - Parameter requests: The requests, at least one and at most ``FleetLimits/batch``. Several may be for one key: then
  ///   at most one of them is granted.
  /// - Returns: The answer to each request, in their order.
  /// - Throws: An error if the backend cannot answer. Some leases may have been granted then, as a lost answer does. If the code
  ///   of the error is ``FleetError/Code/failed``, nodes ask for a half of the requests, so that one key does not fail all.
  nonisolated(nonsending) func acquireLeases(_ requests: [FleetLeaseRequest]) async throws -> [FleetLeaseAnswer]

  /// Lets a lease last for a duration from now.
  ///
  /// - Parameters:
  ///   - lease: The lease.
  ///   - duration: How long it lasts from now, which may be shorter than before.
  /// - Returns: Whether the lease is still held; false if it has ended, was released, or another was granted.
  /// - Throws: An error if the backend cannot answer.
  nonisolated(nonsending) func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool

  /// Ends a lease before its time. It has no effect if the lease is not held any more.
  ///
  /// If the lease is awaited, all nodes receive ``FleetMessage/released(key:)``.
  ///
  /// - Parameter lease: The lease.
  /// - Throws: An error if the backend cannot answer.
  nonisolated(nonsending) func releaseLease(_ lease: FleetLease) async throws

  /// Stores the value of a run in place of the former one, and ends its lease.
  ///
  /// The value is refused, and nothing changes but that the lease ends, if an invalidation of one of its subjects has a
  /// higher epoch than ``FleetWrite/epoch``, or that epoch is lower than the floor. It is refused, and nothing changes
  /// at all, if its lease is not held any more.
  ///
  /// If the lease is awaited or ``FleetWrite/isAnnounced`` is true, all nodes receive ``FleetMessage/stored(key:revision:)``
  /// for a stored value. For one that is refused because of an invalidation, they receive
  /// ``FleetMessage/released(key:)`` if the lease is awaited.
  ///
  /// - Parameter write: The value, and what its run has seen.
  /// - Returns: The revision of the value, which is higher than each earlier revision of the key; or why it is refused.
  /// - Throws: An error if the backend cannot answer. The value may have been stored then.
  nonisolated(nonsending) func store(_ write: FleetWrite) async throws -> FleetWriteAnswer

  /// Invalidates all values with one of these subjects, also the values that runs under way will store.
  ///
  /// All nodes receive ``FleetMessage/invalidated(_:)``. Invalidating twice is harmless, so nodes try again after a failure.
  ///
  /// - Parameters:
  ///   - subjects: The subjects, at least one and at most ``FleetLimits/batch``.
  ///   - node: The name of the node that asks, for those who look.
  /// - Returns: The epoch of the invalidation.
  /// - Throws: An error if the backend cannot answer.
  nonisolated(nonsending) func invalidate(_ subjects: [FleetSubject], by node: String) async throws -> FleetEpoch

  /// Returns the invalidations after an epoch.
  ///
  /// - Parameter epoch: The epoch up to which the caller knows all invalidations.
  /// - Returns: For each subject that was invalidated after `epoch` the last invalidation, and the epoch of this moment;
  ///   or that all subjects may have been, if `epoch` is lower than the floor or higher than the epoch of this moment,
  ///   or if there are more than ``FleetLimits/invalidations``.
  /// - Throws: An error if the backend cannot answer.
  nonisolated(nonsending) func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations

  /// Calls a handler with the messages from now on, one after the other, until the subscription is cancelled.
  ///
  /// Messages may be lost, doubled, late and in any order: they only tell a node to ask earlier than it would. A backend
  /// that notices that it may have lost some, as after its connection was restored, passes ``FleetMessage/missed``.
  ///
  /// - Parameter handler: Called on any thread, with no lock held. It does not wait.
  /// - Returns: The subscription.
  func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription

  /// Why no messages arrive at the moment; nil while they do, which is the default.
  ///
  /// Nodes tell it, and learn of invalidations by their heartbeats meanwhile.
  var messagesFailure: FleetError? { get }

  /// Closes the connection of this process. Later calls of the other methods throw; closing again has no effect.
  nonisolated(nonsending) func close() async
}

extension FleetBackend {
  public var messagesFailure: FleetError? { nil }

  nonisolated(nonsending)
    public func acquireLeases(_ requests: [FleetLeaseRequest]) async throws -> [FleetLeaseAnswer]
  {
    if requests.count == 1 { return [try await self.acquireLease(requests[0])] }
    let lookup = try await self.lookUp(requests.map(\.key))
    var answers = zip(requests, lookup.values).map { request, value -> FleetLeaseAnswer? in
      guard let value, value.revision > request.knownRevision ?? 0 else { return nil }
      return .fresh(value, epoch: lookup.epoch)
    }
    guard answers.count == requests.count else { throw FleetError.wrongCount(answers.count, of: requests.count) }
    var missing = answers.indices.filter { answers[$0] == nil }[...]
    try await withThrowingTaskGroup(of: (Int, FleetLeaseAnswer).self) { group in
      func addNext() {
        guard let place = missing.popFirst() else { return }
        group.addTask { (place, try await self.acquireLease(requests[place])) }
      }
      for _ in 0..<16 { addNext() }
      while let (place, answer) = try await group.next() {
        answers[place] = answer
        addNext()
      }
    }
    return answers.compactMap(\.self)
  }
}

/// Limits that nodes and backends keep.
public enum FleetLimits {
  /// The largest number of keys or subjects of one call: 500.
  public static let batch = 500

  /// The largest number of bytes of a key or a subject, which fits into one notification of PostgreSQL: 1,000.
  ///
  /// A path with a longer key is not shared, which is reported.
  public static let keyLength = 1_000

  /// The largest number of subjects in an answer of ``FleetBackend/invalidations(since:)``: 10,000.
  public static let invalidations = 10_000
}
