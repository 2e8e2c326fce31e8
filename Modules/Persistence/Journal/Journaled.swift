public import OperationCore
internal import OperationFoundation
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
  /// All attempts of a call, also attempts after a restart, have the same
  /// ``OperationCore/OperationContext/operationIdempotencyKey``. Calls of a scope run in the order in which they were
  /// made. A cancelled call, for instance at the end of the program, stays in the journal: remove it to take it back.
  /// Its optimistic update stays as long as the call will still be made. A call does not run, and throws a
  /// ``JournalError``, if it cannot be stored or if its key belongs to a call that has not ended.
  ///
  /// Apply it outside of `.scope(_:)`, so that calls which wait for their turn are stored, and inside of
  /// `.optimistic(on:of:apply:)`, so that the update is shown while a call is stored and waits.
  ///
  /// - Parameters:
  ///   - name: The name of the mutation, the same for all starts of the program.
  ///   - aliases: Names that its calls had in earlier versions of the program. The journal makes calls of these names
  ///     as well.
  ///   - version: The version of the stored arguments. Calls of a later version are kept and reported until a program
  ///     that knows the version makes them. Later calls of their scope wait.
  ///   - policy: What happens to an earlier call that has not been sent: see ``JournalPolicy``.
  ///   - coder: Encodes the arguments.
  ///   - journal: The journal; nil for the journal of the client.
  ///   - exclusion: Which arguments may not be stored; nil if all may. Such a call runs without the journal, calls
  ///     are not merged into such a call, and a call that a conflict gives such arguments stays stored with its earlier ones.
  ///     To leave out single members of the arguments, mark them with ``Unstored``.
  ///   - finalErrors: The errors that further attempts do not change. After one of them the entry is removed;
  ///     otherwise it stays, and blocks its scope until ``MutationJournal/resume()``. If this is nil, an error that is
  ///     thrown to a caller is final, with these exceptions: a connection failed, a modifier of this process rejected
  ///     the run, or ``/OperationCore/RetryClassifying`` or ``/OperationCore/RetryHinting`` says that a retry can
  ///     succeed. After a restart a call has no caller, and no error is final.
  ///   - migrate: Decodes arguments of an earlier version, from the bytes that its coder has returned. Without it,
  ///     calls of earlier versions become dead letters.
  /// - Returns: The mutation with a journal.
  public func journaled(
    as name: String,
    aliases: [String] = [],
    version: Int = 1,
    policy: JournalPolicy<Arguments> = .keepAll,
    coder: any StorageCoder = .json,
    in journal: MutationJournal? = nil,
    excluding exclusion: StorageExclusion<Arguments>? = nil,
    failsForGood finalErrors: FinalErrors<any Error>? = nil,
    migrate: (@Sendable (_ bytes: [UInt8], _ version: Int) throws -> Arguments)? = nil
  ) -> ModifiedOperation<Self, Journaled<Self>> {
    self.journaled(
      as: name,
      aliases: aliases,
      version: version,
      policy: policy,
      coder: coder,
      in: journal,
      excluding: exclusion,
      failsForGood: finalErrors,
      migrate: migrate,
      else: { $0 }
    )
  }
}

extension MutationRequest where Arguments: Codable {
  /// Stores each call before it runs, for mutations whose failure is not `any Error`.
  ///
  /// - Parameters:
  ///   - name: The name of the mutation, the same for all starts of the program.
  ///   - aliases: Names that its calls had in earlier versions of the program. The journal makes calls of these names
  ///     as well.
  ///   - version: The version of the stored arguments. Calls of a later version are kept and reported until a program
  ///     that knows the version makes them. Later calls of their scope wait.
  ///   - policy: What happens to an earlier call that has not been sent: see ``JournalPolicy``.
  ///   - coder: Encodes the arguments.
  ///   - journal: The journal; nil for the journal of the client.
  ///   - exclusion: Which arguments may not be stored; nil if all may. Such a call runs without the journal.
  ///   - finalErrors: The errors that further attempts do not change. If it is nil, an error that is
  ///     thrown to a caller is final unless a retry can succeed. After a restart a call has no caller, and no error is
  ///     final.
  ///   - migrate: Decodes arguments of an earlier version, from the bytes that its coder has returned.
  ///   - failure: Returns the error that a call throws when the journal does not make it.
  /// - Returns: The mutation with a journal.
  public func journaled(
    as name: String,
    aliases: [String] = [],
    version: Int = 1,
    policy: JournalPolicy<Arguments> = .keepAll,
    coder: any StorageCoder = .json,
    in journal: MutationJournal? = nil,
    excluding exclusion: StorageExclusion<Arguments>? = nil,
    failsForGood finalErrors: FinalErrors<MutateFailure>? = nil,
    migrate: (@Sendable (_ bytes: [UInt8], _ version: Int) throws -> Arguments)? = nil,
    else failure: @escaping @Sendable (JournalError) -> MutateFailure
  ) -> ModifiedOperation<Self, Journaled<Self>> {
    self.modifier(
      Journaled(
        name: name,
        aliases: aliases,
        policy: policy,
        stored: StoredArguments(version: version, coder: coder, migrate: migrate),
        journal: journal,
        isExcluded: exclusion?.contains,
        failsForGood: finalErrors?.contains,
        failure: failure
      )
    )
  }
}

/// Stores the calls of a mutation in a journal; applied by `.journaled(as:)`.
public struct Journaled<Operation: MutationRequest>: OperationModifier, JournaledModifier
where Operation.Arguments: Codable {
  let name: String
  let aliases: [String]
  let policy: JournalPolicy<Operation.Arguments>
  let stored: StoredArguments<Operation.Arguments>
  let journal: MutationJournal?
  let isExcluded: (@Sendable (Operation.Arguments) -> Bool)?
  let failsForGood: (@Sendable (Operation.MutateFailure) -> Bool)?
  let failure: @Sendable (JournalError) -> Operation.MutateFailure

  public var sourceText: String { ".journaled(as: \"\(self.name)\")" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    // A scope outside of this modifier has set its name already. A scope inside of it sets its name in the following
    // call.
    let outerScope = context.mutationScope
    if outerScope != nil { context.mutationScope = nil }
    operation.setup(context: &context)
    let isInsideScope = context.mutationScope == nil && outerScope != nil
    if isInsideScope { context.mutationScope = outerScope }
    let scope = context.mutationScope
    context.addRunWrapper(JournalRunWrapper(scope: scope, isInsideScope: isInsideScope))
    let inner = context.innerCallOrder
    let isJournaled: @Sendable (any Any.Type) -> Bool = { $0 is any JournaledModifier.Type }
    let order = CallOrder(of: isJournaled, around: inner, storesCalls: true) { context in
      self.position(of: operation.operationName, in: scope, orBy: inner, for: context)
    } follow: { context in
      guard let (_, journal) = self.storedCall(in: context) else { return { false } }
      let scope = Self.text(of: scope)
      return { journal.isMakingCall(of: scope) }
    }
    context.setCallOrder(order)
    context.operationControllers.append(
      JournaledStoreController<Operation>(
        names: Set([self.name] + self.aliases),
        stored: self.stored,
        journal: self.journal
      )
    )
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
    else {
      context.enqueuedCallOfRun?.decide(.success(()))
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }

    let current = JournalCall.current(in: context)
    let call = current ?? JournalCall(run: context.operationRunningTaskIdentifier, scope: nil, isInsideScope: false)
    call.setCoding(JournalCoding(self.stored, excluding: self.isExcluded))
    if let failsForGood = self.failsForGood {
      call.setJudgement { error in (error as? Operation.MutateFailure).map { failsForGood($0) } ?? false }
    }
    let outcome: Result<Operation.MutateValue, Operation.MutateFailure>
    do throws(JournalError) {
      let ticket = try await call.ticket(of: self.name, in: context) { () async throws(JournalError) in
        try await self.accept(arguments, of: call, of: operation.operationName, in: journal, context)
      }
      outcome = await self.run(
        isolation: isolation,
        ticket,
        of: call,
        in: context,
        using: operation,
        with: continuation
      )
    } catch {
      outcome = .failure(self.failure(error))
    }
    // A run without a store has no wrapper that ends the call after all attempts, so the call has this attempt only.
    if current == nil { await call.end(failing: outcome.failure, in: context) }
    return try outcome.get()
  }

  /// Makes a call that has its turn, or waits for the call that has replaced it.
  private func run(
    isolation: isolated (any Actor)?,
    _ ticket: JournalTicket,
    of call: JournalCall,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.MutateValue, Operation.MutateFailure>
  ) async -> Result<Operation.MutateValue, Operation.MutateFailure> {
    if ticket.result.isReplaced { return await self.outcome(of: ticket) }
    var context = context
    ticket.prepare(&context, for: Operation.Arguments.self)
    context.journalCall = call
    context.mutationBodyObserver = JournalAttempts(of: ticket, in: call.run)
    let outcome = await MutationJournal.inTurn(of: call.isInsideScope ? nil : ticket) {
      await operation.outcome(isolation: isolation, in: context, with: continuation)
    }
    switch outcome {
    case .success(let value): ticket.result.note(value)
    case .failure where ticket.result.isReplaced: return await self.outcome(of: ticket)
    case .failure(let error) where error.endsCancelledRun || error is CancellationError:
      guard let refusal = ticket.journal.refusal(of: ticket) else { break }
      call.refuse(with: refusal)
      return .failure(self.failure(refusal))
    case .failure: break
    }
    return outcome
  }

  /// Waits for the outcome of the call that has replaced another one.
  private nonisolated(nonsending) func outcome(
    of ticket: JournalTicket
  ) async -> Result<Operation.MutateValue, Operation.MutateFailure> {
    switch await ticket.result.outcome(in: ticket.journal) {
    case nil:
      return .failure(
        (CancellationError() as? Operation.MutateFailure) ?? self.failure(.ended(.cancelled, ticket.name))
      )
    case .success(let value as Operation.MutateValue): return .success(value)
    case .failure(let error as Operation.MutateFailure): return .failure(error)
    case .failure(let error as JournalError): return .failure(self.failure(error))
    case .success, .failure: return .failure(self.failure(.ended(.replaced, ticket.name)))
    }
  }

  private func journal(in context: OperationContext) -> MutationJournal? {
    if let journal = self.journal {
      if let client = context.operationClient { journal.bind(to: client, replacing: false) }
      return journal
    }
    if let replay = context.journalReplay, replay.claim(by: context.operationRunningTaskIdentifier) {
      return replay.ticket.journal
    }
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
protocol JournaledModifier: Sendable {
  associatedtype Operation: MutationRequest where Operation.Arguments: Codable

  var name: String { get }
  var aliases: [String] { get }
  var stored: StoredArguments<Operation.Arguments> { get }
  var isExcluded: (@Sendable (Operation.Arguments) -> Bool)? { get }
}

extension JournaledModifier {
  /// How the arguments are stored, as a ``StoredArguments``.
  var storedArguments: any Sendable { self.stored }

  /// Whether a call with these arguments may be stored.
  func mayStore(_ arguments: any Sendable) -> Bool {
    (arguments as? Operation.Arguments).map { self.isExcluded?($0) != true } ?? true
  }
}
