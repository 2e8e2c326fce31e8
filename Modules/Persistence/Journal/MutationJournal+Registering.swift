internal import OperationCore
public import OperationMutation

/// A registered mutation, by which a journal can make stored calls again.
struct JournalRegistration: Sendable {
  let operationName: String
  /// The type of the mutation without its modifiers.
  let type: ObjectIdentifier
  /// Whether its name was given by `register` for earlier calls, or by its own `.journaled(as:)`.
  let isImplied: Bool
  /// Whether a run can end without a body.
  let canEndWithoutBody: Bool
  /// The version of the arguments that it stores and makes calls with.
  let version: Int
  /// What its modifiers say about scheduled calls.
  let settings: @Sendable (OperationContext) -> ScheduledCallSettings
  /// Makes a call, and returns how it has ended.
  let replay: @Sendable (JournalTicket, JournalRecord, OperationClient?) async -> JournalEnd
  /// Shows the optimistic updates of a call that waits; nil if it has none.
  let show: (@Sendable (JournalTicket, JournalRecord, OperationClient) -> Void)?
}

extension MutationJournal {
  /// Registers a mutation, so that the journal can make its calls again.
  ///
  /// Register all mutations at the start of the program, then call ``resume()``. Register a renamed mutation with its
  /// old names as well, because stored calls have these names:
  ///
  /// ```swift
  /// let rename = RenameNote().scope("notes").journaled(as: "rename-note")
  /// journal.register(rename, as: "rename-note")
  /// journal.register(rename, as: "rename")  // The name before version 2.
  /// ```
  ///
  /// The calls of earlier names keep their keys, and their positions in the order of their scope. A mutation is also known
  /// by the name of its own `.journaled(as:)`, unless another mutation is registered with that name.
  ///
  /// - Parameters:
  ///   - mutation: The mutation with the modifiers that its calls are made with. If `.optimistic(on:of:apply:)` is
  ///     outside of `.journaled(as:)`, its updates are shown while a call waits.
  ///   - name: The name that its calls are journaled as. If another mutation was registered with the name, it is
  ///     replaced, and this is reported.
  public func register<Mutation: MutationRequest>(_ mutation: Mutation, as name: String)
  where Mutation.Arguments: Codable {
    self.add(mutation, as: name, isImplied: false)
    guard let modifier = mutation.journaledModifier else { return }
    self.change { $0.name(name, inStoresOf: modifier.name) }
    for known in [modifier.name] + modifier.aliases where known != name {
      self.add(mutation, as: known, isImplied: true)
    }
  }

  /// Registers a mutation whose calls are scheduled, unless the program has registered one with its name.
  func registerIfUnknown<Mutation: MutationRequest>(_ mutation: Mutation, as name: String)
  where Mutation.Arguments: Codable {
    if self.registrations.withLock({ $0[name] == nil }) { self.add(mutation, as: name, isImplied: true) }
  }

  private func add<Mutation: MutationRequest>(_ mutation: Mutation, as name: String, isImplied: Bool)
  where Mutation.Arguments: Codable {
    let isJournaled = Mutation.hasModifier { $0 is any JournaledModifier.Type }
    let stored = mutation.storedArguments
    let show: @Sendable (JournalTicket, JournalRecord, OperationClient) -> Void = { ticket, record, client in
      // Arguments that cannot be decoded are reported at their turn.
      if let arguments = try? stored.decode(record) { mutation.show(ticket, with: arguments, in: client) }
    }
    let registration = JournalRegistration(
      operationName: mutation.operationName,
      type: ObjectIdentifier(Mutation.unmodifiedType),
      isImplied: isImplied,
      canEndWithoutBody: Mutation.canEndWithoutBody,
      version: stored.version,
      settings: { mutation.scheduledCallSettings(in: $0) },
      replay: { ticket, record, client in
        let arguments: Mutation.Arguments
        do {
          arguments = try stored.decode(record)
        } catch {
          await ticket.journal.setAside(
            ticket,
            because: "its arguments cannot be decoded: \(ShownText.whole(error))"
          )
          return .left
        }
        return await mutation.replay(ticket, with: arguments, in: client, isJournaled: isJournaled)
      },
      show: Mutation.hasOptimisticUpdates ? show : nil
    )
    let earlier = self.registrations.withLock { registrations, released -> JournalRegistration? in
      let earlier = registrations[name]
      if isImplied, earlier != nil { return nil }
      released.append(earlier)
      registrations[name] = registration
      return earlier
    }
    self.change { $0.register(name) }
    defer {
      self.resumeByItself(.name(name))
      self.checkSchedules()
    }
    guard let earlier, !earlier.isImplied, earlier.type != registration.type else { return }
    OperationWarning(
      code: .journalNameTaken,
      message: """
        "\(earlier.operationName)" and "\(registration.operationName)" are both registered as "\(name)", and the journal \
        makes the stored calls of that name with the second. Register each mutation with the names of its own calls.
        """
    ).report()
  }
}

extension JournalState {
  /// Makes a name known. Calls that were held because it was not are made if callers wait behind them.
  fileprivate mutating func register(_ name: String) {
    guard self.names.insert(name).inserted else { return }
    var scopes: Set<String> = []
    for (position, item) in self.items where item.isHeld && item.isPending && item.record?.name == name {
      self.items[position]?.hold = .none
      if let scope = item.scope { scopes.insert(scope) }
    }
    for scope in scopes.sorted() { self.advance(scope) }
  }
}

extension MutationRequest {
  /// Whether a run can end without a body: its failure can represent a cancellation.
  static var canEndWithoutBody: Bool { CancellationError() is MutateFailure }
}

extension MutationRequest where Arguments: Codable {
  /// Shows the optimistic updates of a call outside of `.journaled(as:)`.
  fileprivate func show(_ ticket: JournalTicket, with arguments: Arguments, in client: OperationClient) {
    guard let position = ticket.layerPlace, let updates = ticket.updates else { return }
    self.showOptimisticUpdates(with: arguments, in: client, at: position, keptIn: updates) {
      $0 is any JournaledModifier.Type
    }
  }

  fileprivate func replay(
    _ ticket: JournalTicket,
    with arguments: Arguments,
    in client: OperationClient?,
    isJournaled: Bool
  ) async -> JournalEnd {
    let store = client.map { $0.store(for: self) } ?? .detached(mutation: self)
    var context = OperationContext()
    context.operationIdempotencyKey = ticket.key
    context.operationBaseVersion = ticket.base
    context.earlierOptimisticPlace = ticket.layerPlace
    context.earlierOptimisticUpdates = ticket.updates
    // A mutation without `.journaled(as:)` may call a mutation that has it. That is a new call.
    if isJournaled {
      context.journalReplay = JournalReplay(ticket: ticket)
    } else {
      context.mutationBodyObserver = JournalAttempts(of: ticket)
    }
    do throws(MutateFailure) {
      try await MutationJournal.inTurn(of: isJournaled ? nil : ticket) { () async throws(MutateFailure) in
        let value = try await store.mutate(with: arguments, using: context)
        // A value in place of the refusal is none of a body.
        if context.journalReplay?.isUnmade != true { ticket.result.note(value) }
      }
      return context.journalReplay?.isUnmade == true ? .left : .done(failure: nil)
    } catch {
      if context.journalReplay?.isUnmade == true { return .left }
      return ticket.end(after: error, failsForGood: context.journalReplay?.failsForGood(error) ?? false)
    }
  }
}

// MARK: - The modifier of a mutation

extension MutationRequest where Arguments: Codable {
  /// The innermost `.journaled(as:)` of the mutation; nil without one.
  var journaledModifier: (any JournaledModifier)? { (self as? any JournaledOperation)?.journaledModifier }

  /// How the arguments are stored.
  var storedArguments: StoredArguments<Arguments> {
    self.journaledModifier?.storedArguments as? StoredArguments<Arguments> ?? StoredArguments()
  }
}

/// An operation that may have `.journaled(as:)` among its modifiers.
private protocol JournaledOperation {
  var journaledModifier: (any JournaledModifier)? { get }
}

extension Modified: JournaledOperation {
  fileprivate var journaledModifier: (any JournaledModifier)? {
    (self.modifier as? any JournaledModifier) ?? (self.operation as? any JournaledOperation)?.journaledModifier
  }
}

extension DefaultStateOperation: JournaledOperation {
  fileprivate var journaledModifier: (any JournaledModifier)? {
    (self.operation as? any JournaledOperation)?.journaledModifier
  }
}

extension IdempotentOperation: JournaledOperation {
  fileprivate var journaledModifier: (any JournaledModifier)? {
    (self.operation as? any JournaledOperation)?.journaledModifier
  }
}
