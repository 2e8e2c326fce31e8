public import OperationFoundation

extension MutationState {
  /// A call that a journal keeps until it has ended, also one that an earlier start of the program has made.
  ///
  /// See the modifier `.journaled(as:)` of the module `OperationPersistence`.
  public struct JournaledCall: Sendable, Identifiable {
    /// The idempotency key of the call.
    public let id: String

    /// What becomes of the call.
    public let status: JournaledCallStatus

    /// When the call was accepted, by the clock of its context.
    public let acceptedAt: Date

    /// How many times the body of the mutation has begun for the call, including earlier starts of the program.
    public let attempts: Int

    /// The last failure since the program was started, as text; nil if there was none.
    public let lastFailure: String?

    /// The call of its scope that it waits for, which has failed or waits for the user; nil unless it is blocked.
    public let blockedBy: String?

    /// Until when the lease of another process keeps this one from making the call, by the clock of the client, unless that
    /// process renews or releases it before; nil if none does.
    public let leaseEndsAt: Date?

    /// The value or the error of a call that has ended; nil for others, and if its type is not the mutation's.
    public let result: Result<Value, Failure>?

    /// The position among the calls.
    package let order: Int64

    private let decode: @Sendable () -> Arguments?

    package init(
      id: String,
      status: JournaledCallStatus,
      acceptedAt: Date,
      attempts: Int,
      lastFailure: String?,
      blockedBy: String?,
      leaseEndsAt: Date?,
      result: Result<Value, Failure>?,
      order: Int64,
      decode: @escaping @Sendable () -> Arguments?
    ) {
      self.id = id
      self.status = status
      self.acceptedAt = acceptedAt
      self.attempts = attempts
      self.lastFailure = lastFailure
      self.blockedBy = blockedBy
      self.leaseEndsAt = leaseEndsAt
      self.result = result
      self.order = order
      self.decode = decode
    }

    /// The arguments of the call; nil if they cannot be decoded, for example because a later version has encoded them.
    ///
    /// They are decoded each time that this is read.
    public var arguments: Arguments? { self.decode() }
  }

  /// What the state keeps of the calls in a journal.
  struct JournaledCalls: Sendable {
    /// Makes the calls that the journal has; nil before the store has heard of a journal.
    var pending: (@Sendable () -> [JournaledCall])?
    var ended: [JournaledCall] = []
  }

  /// The calls of the mutation that its journal has, and those that have ended since the store was made, oldest first.
  ///
  /// The ``history`` contains the calls since the start of the program, with their tasks. This list contains the stored
  /// calls, also from earlier starts: waiting, being made, dead letters, or ended. It keeps as many ended calls as
  /// ``MutationRequest/maxHistory(length:)`` says. A call that was removed, or replaced by a later one, is not included.
  /// Empty for a mutation without a journal.
  ///
  /// - Complexity: O(*n*) in the number of calls.
  public var journaledCalls: [JournaledCall] {
    guard let pending = self.journaled.pending?() else { return [] }
    return self.journaled.ended.isEmpty ? pending : (pending + self.journaled.ended).sorted { $0.order < $1.order }
  }

  /// Shows the calls of a journal.
  ///
  /// - Parameters:
  ///   - pending: Makes the calls that the journal has, in their order.
  ///   - ended: Calls that have ended since the last time.
  ///   - isAnew: Whether earlier ones that have ended are forgotten.
  ///   - limit: How many that have ended are kept.
  package mutating func showJournaledCalls(
    _ pending: @escaping @Sendable () -> [JournaledCall],
    ended: [JournaledCall],
    isAnew: Bool,
    limit: Int
  ) {
    self.journaled.pending = pending
    if isAnew { self.journaled.ended = [] }
    if !ended.isEmpty { self.journaled.ended.append(contentsOf: ended) }
    let excess = self.journaled.ended.count - limit
    if excess > 0 { self.journaled.ended.removeFirst(min(excess, self.journaled.ended.count)) }
  }
}

extension Array {
  /// The call of a journal with an idempotency key; nil if there is none.
  ///
  /// - Complexity: O(*n*) in the number of calls.
  public subscript<Arguments, Value, Failure>(id id: String) -> Element?
  where Element == MutationState<Arguments, Value, Failure>.JournaledCall {
    self.last { $0.id == id }
  }
}
