public import OperationCore
internal import OperationFoundation

extension OperationStore where State: ValueServingState {
  /// Returns the value if it is young enough, and otherwise the value of a run.
  ///
  /// The staleness rules of the operation do not matter, but an invalidation does, also one of a source of a derived query:
  /// then there is a run. A run that is under way and refreshes the value is joined. Its failure is thrown, whatever
  /// `.servesStale(softTimeout:maximumAge:)` says: a reader who names an age gets no older value.
  ///
  /// - Parameter maximumAge: The maximal age, by the clock of the context, the age on arrival included that a server
  ///   has named. A negative one is reported and counts as zero.
  /// - Returns: The value, with optimistic updates if no run was needed.
  /// - Throws: The failure of the run.
  public func value(maximumAge: Duration) async throws(State.Failure) -> State.OperationValue {
    let maximumAge = maximumAge.reportedIfNegative(in: "value(maximumAge:)")
    var kept = self.value(notOlderThan: maximumAge.seconds)
    if kept == nil, await self.restored() { kept = self.value(notOlderThan: maximumAge.seconds) }
    var context = OperationContext()
    context.maximumValueAge = min(self.context.maximumValueAge ?? maximumAge, maximumAge)
    return try await self.value(for: .notOlder(than: maximumAge), using: context, inState: kept)
  }

  private func value(notOlderThan maximumAge: Double) -> State.OperationValue? {
    guard let (state, shown) = self.stateForRead, let key = ValueKey(state) else { return nil }
    let context = self.context
    let age = context.date.timeIntervalSince(key.date)
    let initialAge = context.knownFreshnessRecord?.entry(of: key)?.initialAge ?? 0
    return age >= 0 && age + initialAge <= maximumAge ? shown.servedValue : nil
  }
}

extension OperationClient {
  /// Returns the value of a query if it is young enough, and otherwise fetches it.
  ///
  /// See `value(maximumAge:)`.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - maximumAge: The maximal age. A negative one is reported and counts as zero.
  /// - Returns: The value.
  /// - Throws: The failure of the query.
  public func value<Query: QueryRequest>(
    of query: Query,
    maximumAge: Duration
  ) async throws(Query.Failure) -> Query.Value {
    try await self.store(for: query).value(maximumAge: maximumAge)
  }

  /// Returns the value of a query with a default value if it is young enough, and otherwise fetches it.
  ///
  /// The default value is never returned. See `value(maximumAge:)`.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - maximumAge: The maximal age. A negative one is reported and counts as zero.
  /// - Returns: The value.
  /// - Throws: The failure of the query.
  public func value<Query: DefaultStateRequest>(
    of query: Query,
    maximumAge: Duration
  ) async throws(Query.Failure) -> Query.Value where Query.State: ValueServingState {
    try await self.store(for: query).value(maximumAge: maximumAge)
  }
}
