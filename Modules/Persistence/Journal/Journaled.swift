internal import FoundationEssentials
public import OperationCore
public import OperationMutation

extension MutationRequest where Arguments: Codable, MutateFailure == any Error {
  /// Stores each call before it runs, and keeps it until it has succeeded or failed for good: see ``MutationJournal``.
  ///
  /// ```swift
  /// RenameNote()
  ///   .waits(until: .connected(to: observer))
  ///   .scope("notes")
  ///   .journaled(as: "rename-note")
  ///   .optimistic(on: ["notes"], of: NoteState.self) { note, arguments in note?.name = arguments.name }
  /// ```
  ///
  /// All attempts of a call, also those after a restart, have the same
  /// ``OperationCore/OperationContext/operationIdempotencyKey``. Calls of a scope run in the order in which they were
  /// made. A call that is cancelled, for instance because the program ends, stays in the journal: remove it to take it
  /// back. While a call waits, as with `.waits(until:)`, no attempt is counted. A call that cannot be stored throws a
  /// ``JournalError``, and does not run.
  ///
  /// Apply it outside of `.scope(_:)`, so that calls which wait for their turn are stored, and inside of
  /// `.optimistic(on:of:apply:)`, so that the update is shown while a call is stored and waits.
  ///
  /// - Parameters:
  ///   - name: The name of the mutation, the same for all starts of the program.
  ///   - journal: The journal; nil for that of the client.
  ///   - isExcluded: Returns true for arguments that may not be stored. Such a call runs without the journal. To leave
  ///     out single members of the arguments, mark them with ``Unstored``.
  ///   - failsForGood: Returns true for an error that further attempts do not change. The entry is removed then;
  ///     otherwise it stays, and blocks its scope until ``MutationJournal/resume()``. If it is nil, every error that is
  ///     thrown to a caller is final, and after a restart, without a caller, none is.
  /// - Returns: The mutation with a journal.
  public func journaled(
    as name: String,
    in journal: MutationJournal? = nil,
    unless isExcluded: (@Sendable (Arguments) -> Bool)? = nil,
    failsForGood: (@Sendable (any Error) -> Bool)? = nil
  ) -> ModifiedOperation<Self, Journaled<Self>> {
    self.journaled(as: name, in: journal, unless: isExcluded, failsForGood: failsForGood) { $0 }
  }
}

extension MutationRequest where Arguments: Codable {
  /// Stores each call before it runs, for mutations whose failure is not `any Error`.
  ///
  /// - Parameters:
  ///   - name: The name of the mutation, the same for all starts of the program.
  ///   - journal: The journal; nil for that of the client.
  ///   - isExcluded: Returns true for arguments that may not be stored. Such a call runs without the journal.
  ///   - failsForGood: Returns true for an error that further attempts do not change. If it is nil, every error that is
  ///     thrown to a caller is final, and after a restart, without a caller, none is.
  ///   - failure: Returns the error that a call throws when the journal does not make it.
  /// - Returns: The mutation with a journal.
  public func journaled(
    as name: String,
    in journal: MutationJournal? = nil,
    unless isExcluded: (@Sendable (Arguments) -> Bool)? = nil,
    failsForGood: (@Sendable (MutateFailure) -> Bool)? = nil,
    else failure: @escaping @Sendable (JournalError) -> MutateFailure
  ) -> ModifiedOperation<Self, Journaled<Self>> {
    self.modifier(
      Journaled(name: name, journal: journal, isExcluded: isExcluded, failsForGood: failsForGood, failure: failure)
    )
  }
}

/// Stores the calls of a mutation in a journal; applied by `.journaled(as:in:unless:failsForGood:)`.
public struct Journaled<Operation: MutationRequest>: OperationModifier, JournaledModifier
where Operation.Arguments: Codable {
  let name: String
  let journal: MutationJournal?
  let isExcluded: (@Sendable (Operation.Arguments) -> Bool)?
  let failsForGood: (@Sendable (Operation.MutateFailure) -> Bool)?
  let failure: @Sendable (JournalError) -> Operation.MutateFailure

  public func setup(context: inout OperationContext, using operation: Operation) {
    // A scope outside of this modifier has set its name already; one inside of it sets it in the following call.
    let outerScope = context.mutationScope
    if outerScope != nil { context.mutationScope = nil }
    operation.setup(context: &context)
    let isInsideScope = context.mutationScope == nil && outerScope != nil
    if isInsideScope { context.mutationScope = outerScope }
    context.addRunWrapper(JournalRunWrapper(scope: context.mutationScope, isInsideScope: isInsideScope))
    guard isInsideScope else { return }
    OperationWarning(
      code: .journaledInsideScope,
      message: """
        The mutation "\(self.name)" is journaled inside of its scope, so calls that wait for their turn are not stored. \
        Write `.scope(…)` before `.journaled(as:)`.
        """
    ).report()
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async throws(Operation.MutateFailure) -> Operation.MutateValue {
    guard
      let arguments = context.mutationArguments(as: Operation.Arguments.self),
      self.isExcluded?(arguments) != true,
      let journal = self.journal(in: context)
    else { return try await operation.run(isolation: isolation, in: context, with: continuation) }

    let current = JournalCall.current(in: context, named: self.name)
    let call = current ?? JournalCall(run: context.operationRunningTaskIdentifier, scope: nil, isInsideScope: false)
    if let failsForGood = self.failsForGood {
      call.setJudgement { error in (error as? Operation.MutateFailure).map { failsForGood($0) } ?? false }
    }
    let outcome: Result<Operation.MutateValue, Operation.MutateFailure>
    do throws(JournalError) {
      let ticket = try await call.ticket { () async throws(JournalError) in
        try await self.accept(arguments, of: call, of: operation.operationName, in: journal, context)
      }
      var context = context
      context.operationIdempotencyKey = ticket.id
      context.journalCall = call
      context.pauseObserver = JournalPauses(of: ticket)
      outcome = await MutationJournal.inTurn(of: call.isInsideScope ? nil : ticket) {
        await operation.outcome(isolation: isolation, in: context, with: continuation)
      }
    } catch {
      outcome = .failure(self.failure(error))
    }
    // A run without a store has no wrapper, which would end the call after all attempts: it has this attempt only.
    if current == nil { await call.end(with: outcome, in: context) }
    return try outcome.get()
  }

  private func accept(
    _ arguments: Operation.Arguments,
    of call: JournalCall,
    of operationName: String,
    in journal: MutationJournal,
    _ context: OperationContext
  ) async throws(JournalError) -> JournalTicket {
    if Task.isCancelled { throw .ended(.cancelled, self.name) }
    do {
      let bytes = try StorageCoding.encode(arguments)
      let ticket = try await journal.accept(
        self.name,
        arguments: String(decoding: bytes, as: UTF8.self),
        scope: call.scope.map { StorageKey.text(of: $0) ?? "\($0)" },
        key: call.isNested ? nil : context.operationIdempotencyKey,
        date: context.operationClock.now(),
        operationName: operationName,
        layersAt: context.optimisticPlace
      )
      context.send(ticket.notice(.journalAccepted))
      return ticket
    } catch {
      throw .notAccepted(self.name, error)
    }
  }

  private func journal(in context: OperationContext) -> MutationJournal? {
    if let journal = self.journal {
      if let client = context.operationClient { journal.bind(to: client, replacing: false) }
      return journal
    }
    if let replay = context.journalReplay, replay.ticket.name == self.name { return replay.ticket.journal }
    if let client = context.operationClient { return client.journal }
    OperationWarning(
      code: .noStorage,
      message: """
        The mutation "\(self.name)" is journaled, and there is no journal for it: its call is lost if the process ends. \
        Get its store from a client with a `journal`, or pass one to `.journaled(as:in:)`.
        """
    ).report()
    return nil
  }
}

/// A ``Journaled`` modifier of any mutation.
protocol JournaledModifier {}
