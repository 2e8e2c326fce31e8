internal import OperationCore
internal import OperationMutation

extension Journaled {
  /// Stores a call, at the position that it has taken if it has one.
  func accept(
    _ arguments: Operation.Arguments,
    of call: JournalCall,
    of operationName: String,
    in journal: MutationJournal,
    _ context: OperationContext
  ) async throws(JournalError) -> JournalTicket {
    // Another attempt of the run may store it, so that is not decided.
    if Task.isCancelled { throw .ended(.cancelled, self.name) }
    context.enqueuedCallOfRun?.beginStoring()
    do {
      // The request of a position is older than this attempt, and its position in the order counts.
      let position = context.journalPosition(in: journal, of: self.name)
      let ticket: JournalTicket
      if let position, position.use() {
        ticket = try await journal.accept(position.request, at: position.reservation)
      } else {
        let request = try self.request(
          for: arguments,
          of: operationName,
          in: call.scope,
          beginsAtOnce: !call.isInsideScope,
          isNested: call.isNested,
          context
        )
        ticket = try await journal.accept(request)
      }
      context.enqueuedCallOfRun?.decide(.success(()))
      context.send(ticket.notice(.journalAccepted))
      return ticket
    } catch {
      let error = error as? JournalError ?? .notAccepted(self.name, error)
      context.enqueuedCallOfRun?.decide(.failure(error))
      throw error
    }
  }

  /// Takes a position for a call that has not come to this modifier yet; nil if it takes its position here.
  func position(
    of operationName: String,
    in scope: OperationPath?,
    orBy inner: CallOrder?,
    for context: OperationContext
  ) -> (any CallPosition)? {
    // A replay has the position of its call.
    if context.journalReplay != nil { return nil }
    guard let (arguments, journal) = self.storedCall(in: context) else { return inner?.position(in: context) }
    if let own = self.journal, let client = context.operationClient { own.bind(to: client, replacing: false) }
    let request = try? self.request(
      for: arguments,
      of: operationName,
      in: scope,
      beginsAtOnce: true,
      isNested: context.journalCall != nil,
      context
    )
    // What is wrong with the arguments or the key is thrown when the call comes here.
    guard let request, let reservation = journal.reserve(request) else { return nil }
    return JournalPosition(reservation, request, in: journal, of: context.operationRunningTaskIdentifier)
  }

  /// The arguments of a call that has not come to this modifier yet, and its journal; nil if it is made without a journal.
  func storedCall(in context: OperationContext) -> (Operation.Arguments, MutationJournal)? {
    guard let arguments = context.mutationArguments(as: Operation.Arguments.self), self.isExcluded?(arguments) != true,
      let journal = self.journal ?? context.operationClient?.journal
    else { return nil }
    return (arguments, journal)
  }

  /// The name of a scope in the journal.
  static func text(of scope: OperationPath?) -> String? { scope.map { StorageKey.text(of: $0) ?? "\($0)" } }

  private func request(
    for arguments: Operation.Arguments,
    of operationName: String,
    in scope: OperationPath?,
    beginsAtOnce: Bool,
    isNested: Bool,
    _ context: OperationContext
  ) throws -> JournalRequest {
    JournalRequest(
      name: self.name,
      arguments: try self.encoded(arguments),
      version: self.stored.version,
      scope: Self.text(of: scope),
      key: isNested ? nil : context.operationIdempotencyKey,
      date: context.operationClock.now(),
      operationName: operationName,
      layerPlace: context.takeOptimisticPlace(),
      beginsAtOnce: beginsAtOnce && !Operation.hasModifier { !($0 is any TurnModifier.Type) },
      canEndWithoutBody: Operation.canEndWithoutBody,
      callUpdates: context.callUpdates,
      lifetime: context.journalLifetime,
      letsPass: context.deadLetterPolicy == .letPass,
      base: context.operationBaseVersion,
      mergeKey: self.mergeKey(of: arguments),
      merge: self.merge(with: arguments, basedOn: context.operationBaseVersion)
    )
  }

  private func encoded(_ arguments: Operation.Arguments) throws(JournalError) -> StoredBytes {
    do { return try self.stored.encode(arguments) } catch { throw .notEncoded(self.name, error) }
  }

  /// The subject of a call, as text; nil if all calls are made, or if the subject cannot be stored.
  private func mergeKey(of arguments: Operation.Arguments) -> String? {
    guard let rule = self.policy.rule else { return nil }
    let key = rule.key(arguments)
    do throws(NoStorageKey) {
      return try StorageKey.storedText(of: key)
    } catch {
      error.report(at: key)
      return nil
    }
  }

  /// Merges an earlier call with the call of these arguments; nil if all calls are made.
  private func merge(
    with arguments: Operation.Arguments,
    basedOn base: String?
  ) -> (@Sendable (JournalRecord) throws -> MergedCall?)? {
    guard let rule = self.policy.rule else { return nil }
    return { record in
      // If the arguments of the earlier call cannot be decoded, it is made, or reported, by itself.
      guard let earlier = try? self.stored.decode(record), let merged = rule.merge(earlier, arguments),
        self.isExcluded?(merged) != true
      else { return nil }
      return MergedCall(
        bytes: try self.encoded(merged),
        arguments: merged,
        base: (rule.keepsBase ? record.base : nil) ?? base
      )
    }
  }
}

/// A modifier that begins its operation as soon as the call has its turn.
private protocol TurnModifier {}

extension MutationScope: TurnModifier {}
