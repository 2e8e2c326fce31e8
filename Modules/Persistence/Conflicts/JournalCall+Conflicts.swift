internal import OperationCore
internal import OperationFoundation
internal import OperationMutation

/// Encodes what a journal stores of the calls of a mutation.
struct JournalCoding: Sendable {
  let version: Int
  let coder: any StorageCoder
  /// Encodes arguments; nil if they have another type, or may not be stored.
  let encode: @Sendable (any Sendable) throws -> StoredBytes?

  init<Arguments>(_ stored: StoredArguments<Arguments>, excluding isExcluded: (@Sendable (Arguments) -> Bool)?) {
    self.version = stored.version
    self.coder = stored.coder
    self.encode = { arguments in
      guard let arguments = arguments as? Arguments, isExcluded?(arguments) != true else { return nil }
      return try stored.encode(arguments)
    }
  }
}

/// The decision about the conflict of a call, which determines how the call ends.
enum ConflictDecision: Sendable {
  /// It is kept until the user decides.
  case ask(StoredConflict)
  /// It is not made, and its callers get the error.
  case discard(JournalError)
  /// It has failed, and is made again later.
  case again
  /// The storage has failed to take its new arguments, or was closed. This run does not send them, and the call is made again later.
  case unstored(JournalError)
  /// Another process has replaced its arguments. This run does not send its own, and the call is made again with the stored ones.
  case overtaken(JournalError)
  /// Another process has the lease, and the program is about to end. This run does not send the call.
  case stopped(JournalError)

  /// The error of its caller, if its attempt does not begin.
  var refusal: JournalError? {
    switch self {
    case .unstored(let error), .overtaken(let error), .stopped(let error): error
    case .ask, .discard, .again: nil
    }
  }
}

/// The stored part of a call that is kept because of a conflict.
struct StoredConflict: Sendable {
  /// The data of the server.
  let current: StoredBytes
  let holdsScope: Bool
  let error: any Error
}

extension ConflictedCall {
  /// A call that has failed; nil if its arguments are not known. `retryCount` is used for a call without a journal.
  init?(_ call: JournalCall?, retryCount: Int, in context: OperationContext) {
    let ticket = call?.acceptedTicket
    let known = ticket?.arguments as? Arguments
    guard let arguments = known ?? context.mutationArguments(as: Arguments.self) else { return nil }
    self.init(
      id: ticket?.id ?? "",
      arguments: arguments,
      baseVersion: ticket == nil ? context.operationBaseVersion : ticket?.base,
      acceptedAt: ticket.flatMap { $0.journal.acceptanceDate(of: $0) },
      retryCount: ticket?.revision ?? retryCount
    )
  }
}

extension JournalCall {
  /// Makes the call with other arguments from now on, also after a restart.
  ///
  /// The arguments are stored with the next attempt. If the process ends before that, the call is made with its earlier
  /// arguments, and the conflict is found again.
  ///
  /// - Returns: Whether the call has other arguments now. It has not without a journal, if they may not be stored, or if another
  ///   process has replaced its arguments: then the attempts of this run alone are made with them, if they can be made.
  /// - Throws: The error of the encoding.
  func revise(
    with arguments: any Sendable,
    basedOn base: String?,
    in context: inout OperationContext
  ) throws -> Bool {
    guard var ticket = self.acceptedTicket, let coding = self.coding, let bytes = try coding.encode(arguments)
    else { return false }
    let revision = JournalRevision(arguments: bytes, version: coding.version, base: base, number: ticket.revision + 1)
    let (journal, position) = (ticket.journal, ticket.position)
    guard journal.change({ $0.revise(position, revision) }) else { return false }
    ticket.arguments = arguments
    ticket.base = base
    ticket.revision = revision.number
    self.setTicket(ticket)
    context.operationIdempotencyKey = ticket.key
    return true
  }

  /// Notes the decision about the conflict, for the end of the call.
  ///
  /// - Returns: The error of its caller, if another process has decided, or has replaced the arguments; otherwise nil.
  @discardableResult
  func decide(_ decision: ConflictDecision) -> JournalError? {
    self.acceptedTicket.flatMap { $0.journal.decide(decision, about: $0.position) }
  }

  /// Discards the call. Returns the error of its caller; nil for a call without a journal.
  func discard(after error: any Error) -> JournalError? {
    guard let ticket = self.acceptedTicket else { return nil }
    let discarded = JournalError.discarded(ticket.name, error)
    let refusal = self.decide(.discard(discarded)) ?? discarded
    self.refuse(with: refusal)
    return refusal
  }

  /// Keeps the call until the user decides. Returns the error of its caller; nil for a call without a journal.
  ///
  /// - Throws: The error of the encoding.
  func ask(
    after error: any Error,
    holdsScope: Bool,
    _ encode: (any StorageCoder) throws -> [UInt8]
  ) throws -> JournalError? {
    guard let ticket = self.acceptedTicket, let coding = self.coding else { return nil }
    let conflict = StoredConflict(current: StoredBytes(try encode(coding.coder)), holdsScope: holdsScope, error: error)
    let refusal = self.decide(.ask(conflict)) ?? .conflicted(ticket.name, error)
    self.refuse(with: refusal)
    return refusal
  }
}

/// Other arguments of a call.
struct JournalRevision: Sendable {
  let arguments: StoredBytes
  let version: Int
  let base: String?
  let number: Int
}

extension MutationJournal {
  /// Notes a decision about a call, unless another process has decided, or has replaced the arguments that this is about.
  ///
  /// - Returns: The error of its caller in that case; otherwise nil.
  @discardableResult
  func decide(_ decision: ConflictDecision, about position: JournalState.Position) -> JournalError? {
    self.state.withLock { state, released in
      if let refusal = state.items[position]?.refusalOfDecision { return refusal }
      released.append(state.items[position]?.decision)
      state.items[position]?.decision = decision
      return nil
    }
  }

  fileprivate func acceptanceDate(of ticket: JournalTicket) -> Date? {
    let record = self.state.withLock { $0.items[ticket.position]?.record }
    return record.map { Date(timeIntervalSinceReferenceDate: $0.acceptedAt) }
  }
}

extension JournalState.Item {
  /// The error of a run that would decide about the call, if another process has decided, or has replaced the arguments.
  fileprivate var refusalOfDecision: JournalError? {
    if case .overtaken(let refusal)? = self.decision { return refusal }
    return self.record.flatMap { $0.isDeadLetter ? .ended(.takenOver, $0.name) : nil }
  }
}

extension JournalState {
  /// Replaces the arguments of a call, unless another process has decided about it. The next write stores them.
  ///
  /// - Returns: Whether they are replaced.
  mutating func revise(_ position: Position, _ revision: JournalRevision) -> Bool {
    if self.items[position]?.refusalOfDecision != nil { return false }
    self.edit(position) { item in
      item.record?.revise(revision)
      item.changes.noteRevision()
    }
    return true
  }
}
