public import OperationCore
public import OperationMutation

extension MutationRequest {
  /// Decides about calls that are in conflict with the data of the server.
  ///
  /// ```swift
  /// SaveNote(server: server)
  ///   .resolvesConflicts(of: NoteConflict.self) { call, current in
  ///     guard let merged = call.arguments.merged(with: current) else { return .ask }
  ///     return .retry(with: merged, basedOn: current.version)
  ///   }
  ///   .scope("notes")
  ///   .journaled(as: "save-note")
  /// ```
  ///
  /// A call with replaced arguments stays the same call: it keeps its entry, its position in its scope and its caller. Its
  /// optimistic update shows the new arguments. Its request is another one, so it has another
  /// ``OperationCore/OperationContext/operationIdempotencyKey``. After eight conflicts in one attempt the call has
  /// failed, and is made again later.
  ///
  /// New arguments are stored before they are sent. If the storage fails to store them, the call waits in the journal, and its
  /// caller gets a ``JournalError`` with the code ``JournalError/Code/notStored``. A mutation whose failure cannot represent a
  /// `CancellationError` sends them all the same.
  ///
  /// Apply it inside of retries: a retry inside of it would repeat a call that is in conflict. A call without a journal
  /// cannot be kept for the user; it throws its error.
  ///
  /// - Parameters:
  ///   - type: The type of the errors that are conflicts.
  ///   - resolve: Decides. It is called on no actor, without a lock, and may be called again after a restart.
  /// - Returns: The mutation whose conflicts are resolved.
  public func resolvesConflicts<Conflict: MutationConflict>(
    of type: Conflict.Type,
    _ resolve:
      @escaping @Sendable (_ call: ConflictedCall<Arguments>, _ current: Conflict.Current) async
      -> ConflictResolution<Arguments>
  ) -> ModifiedOperation<Self, ResolvesConflicts<Self>> {
    self.resolvesConflicts { error, _ in
      (error as? Conflict)?.current
    } with: {
      await resolve($0, $1)
    }
  }

  /// Decides about calls that are in conflict with the data of the server, for errors that do not carry this data.
  ///
  /// ```swift
  /// SaveNote(server: server).resolvesConflicts { error, context in
  ///   // A bare 412 says nothing else.
  ///   guard (error as? HTTPError)?.statusCode == 412 else { return nil }
  ///   return try await server.note()
  /// } with: { call, current in
  ///   .retry(with: call.arguments, basedOn: current.version)
  /// }
  /// ```
  ///
  /// See ``OperationMutation/MutationRequest/resolvesConflicts(of:_:)``.
  ///
  /// - Parameters:
  ///   - current: Returns the data of the server; nil for an error that is no conflict. If it throws, the call has
  ///     failed with that error, and is made again later.
  ///   - resolve: Decides. It is called on no actor, without a lock, and may be called again after a restart.
  /// - Returns: The mutation whose conflicts are resolved.
  public func resolvesConflicts<Current: Codable & Sendable>(
    current: @escaping @Sendable (_ error: any Error, _ context: OperationContext) async throws -> Current?,
    with resolve:
      @escaping @Sendable (_ call: ConflictedCall<Arguments>, _ current: Current) async
      -> ConflictResolution<Arguments>
  ) -> ModifiedOperation<Self, ResolvesConflicts<Self>> {
    self.modifier(
      ResolvesConflicts { error, call, context in
        guard let current = try await current(error, context) else { return nil }
        return ResolvedConflict(resolution: await resolve(call, current)) { try $0.encode(current) }
      }
    )
  }
}

/// The decision about a conflict.
struct ResolvedConflict<Arguments: Sendable>: Sendable {
  let resolution: ConflictResolution<Arguments>
  /// Encodes the data of the server.
  let encode: @Sendable (any StorageCoder) throws -> [UInt8]
}

/// Resolves the conflicts of a mutation; applied by `.resolvesConflicts(of:)`.
public struct ResolvesConflicts<Operation: MutationRequest>: OperationModifier {
  typealias Arguments = Operation.Arguments

  /// Decides about an error; nil if it is no conflict.
  let resolve:
    @Sendable (any Error, ConflictedCall<Arguments>, OperationContext) async throws -> ResolvedConflict<Arguments>?

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".resolvesConflicts { … }" }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    var context = context
    let call = JournalCall.current(in: context)
    // A retry around this modifier does not repeat a call that is kept for the user.
    if let refusal = call?.refusal as? Operation.MutateFailure { throw refusal }
    // An attempt before may have replaced the arguments, in a context of its own.
    if let ticket = call?.acceptedTicket, ticket.revision > 0 { ticket.prepare(&context, for: Arguments.self) }
    var retryCount = 0
    while true {
      let outcome = await operation.outcome(isolation: isolation, in: context, with: continuation)
      guard case .failure(let error) = outcome, !error.endsCancelledRun, !(error is JournalError) else {
        return try outcome.get()
      }
      if let failure = await self.failure(after: error, retryCount: retryCount, in: &context) { throw failure }
      retryCount += 1
    }
  }

  private static var maximumRetries: Int { 8 }

  /// Decides about a failure. Returns the error of the call; nil if it is made again, with the context.
  private nonisolated(nonsending) func failure(
    after error: Operation.MutateFailure,
    retryCount: Int,
    in context: inout OperationContext
  ) async -> Operation.MutateFailure? {
    let call = JournalCall.current(in: context)
    guard let conflicted = ConflictedCall<Arguments>(call, retryCount: retryCount, in: context) else { return error }
    do {
      guard let conflict = try await self.resolve(error, conflicted, context) else { return error }
      switch conflict.resolution.decision {
      case .retry(let arguments, let base) where retryCount < Self.maximumRetries:
        let isRevised = try call?.revise(with: arguments, basedOn: base, in: &context) ?? false
        // Without a journal, nothing remembers the key of an earlier attempt with these arguments.
        if !isRevised, context.operationIdempotencyKey != nil { context.operationIdempotencyKey = JournalKey.random() }
        context.setMutationArguments(arguments)
        context.operationBaseVersion = base
        context.callUpdates?.show(with: arguments)
        return nil
      case .retry: return call?.decide(.again) as? Operation.MutateFailure ?? error
      case .discard: return call?.discard(after: error) as? Operation.MutateFailure ?? error
      case .ask(let holdsScope):
        let refusal = try call?.ask(after: error, holdsScope: holdsScope, conflict.encode)
        return refusal as? Operation.MutateFailure ?? error
      }
    } catch let failure {
      // The data of the server is not known, or cannot be stored.
      return (call?.decide(.again) ?? failure) as? Operation.MutateFailure ?? error
    }
  }
}
