public import OperationCore
public import OperationMutation

extension MutationJournal {
  @available(*, deprecated, renamed: "attemptsBeforeDeadLetter")
  public var attemptsBeforeSetAside: Int { self.attemptsBeforeDeadLetter }

  @available(
    *,
    deprecated,
    renamed:
      "init(storage:resumes:attemptsBeforeDeadLetter:maximumConcurrentCalls:maximumConcurrentScopes:leaseDuration:makeKey:)"
  )
  public convenience init(
    storage: any PersistentStorage,
    attemptsBeforeSetAside: Int,
    maximumConcurrentCalls: Int = 8,
    leaseDuration: Duration = .seconds(5),
    makeKey: (@Sendable () -> String)? = nil
  ) {
    self.init(
      storage: storage,
      attemptsBeforeDeadLetter: attemptsBeforeSetAside,
      maximumConcurrentCalls: maximumConcurrentCalls,
      leaseDuration: leaseDuration,
      makeKey: makeKey
    )
  }
}

extension JournalEntry.Status {
  @available(*, deprecated, renamed: "deadLetter")
  public static var setAside: Self { .deadLetter }
}

extension OperationWarning.Code {
  @available(*, deprecated, renamed: "journalDeadLetter")
  public static var journalEntrySetAside: Self { .journalDeadLetter }
}

extension OperationNotice.Name {
  @available(*, deprecated, renamed: "journalDeadLetter")
  public static var journalSetAside: Self { .journalDeadLetter }
}

extension StatefulOperationRequest where State: RestorableState, State.Restoration: Codable {
  @available(*, deprecated, message: "Write excluding: .where { … } for the values that are not stored.")
  public func persisted(
    as name: String,
    aliases: [String] = [],
    version: Int = 1,
    maximumAge: Duration? = nil,
    in storage: (any PersistentStorage)? = nil,
    coder: any StorageCoder = .json,
    unless isExcluded: @escaping @Sendable (State.RestorableValue) -> Bool,
    migrate: (@Sendable (_ bytes: [UInt8], _ version: Int) throws -> State.Restoration)? = nil
  ) -> ModifiedOperation<Self, Persisted<Self>> {
    self.persisted(
      as: name,
      aliases: aliases,
      version: version,
      maximumAge: maximumAge,
      in: storage,
      coder: coder,
      excluding: .where(isExcluded),
      migrate: migrate
    )
  }

  @available(*, deprecated, message: "Write excluding: .where { … } for the values that do not leave the process.")
  public func hydratable(
    as name: String,
    version: Int = 1,
    unless isExcluded: @escaping @Sendable (State.RestorableValue) -> Bool
  ) -> ModifiedOperation<Self, Hydratable<Self>> {
    self.hydratable(as: name, version: version, excluding: .where(isExcluded))
  }
}

extension MutationRequest where Arguments: Codable, MutateFailure == any Error {
  @available(*, deprecated, message: "Write excluding: .where { … } for the arguments that are not stored.")
  public func journaled(
    as name: String,
    aliases: [String] = [],
    version: Int = 1,
    policy: JournalPolicy<Arguments> = .keepAll,
    coder: any StorageCoder = .json,
    in journal: MutationJournal? = nil,
    unless isExcluded: @escaping @Sendable (Arguments) -> Bool,
    failsForGood: (@Sendable (any Error) -> Bool)? = nil,
    migrate: (@Sendable (_ bytes: [UInt8], _ version: Int) throws -> Arguments)? = nil
  ) -> ModifiedOperation<Self, Journaled<Self>> {
    self.journaled(
      as: name,
      aliases: aliases,
      version: version,
      policy: policy,
      coder: coder,
      in: journal,
      excluding: .where(isExcluded),
      failsForGood: failsForGood.map { .where($0) },
      migrate: migrate
    )
  }

  // Disfavored, so that a trailing closure that could be both is the one of the first name.
  @available(*, deprecated, message: "Write failsForGood: .where { … }.")
  @_disfavoredOverload
  public func journaled(
    as name: String,
    aliases: [String] = [],
    version: Int = 1,
    policy: JournalPolicy<Arguments> = .keepAll,
    coder: any StorageCoder = .json,
    in journal: MutationJournal? = nil,
    excluding exclusion: StorageExclusion<Arguments>? = nil,
    failsForGood: @escaping @Sendable (any Error) -> Bool,
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
      failsForGood: .where(failsForGood),
      migrate: migrate
    )
  }
}

extension MutationRequest where Arguments: Codable {
  // Disfavored, so that a trailing closure that could be both is the one of the first name.
  @available(*, deprecated, message: "Write failsForGood: .where { … }.")
  @_disfavoredOverload
  public func journaled(
    as name: String,
    aliases: [String] = [],
    version: Int = 1,
    policy: JournalPolicy<Arguments> = .keepAll,
    coder: any StorageCoder = .json,
    in journal: MutationJournal? = nil,
    excluding exclusion: StorageExclusion<Arguments>? = nil,
    failsForGood: @escaping @Sendable (MutateFailure) -> Bool,
    migrate: (@Sendable (_ bytes: [UInt8], _ version: Int) throws -> Arguments)? = nil,
    else failure: @escaping @Sendable (JournalError) -> MutateFailure
  ) -> ModifiedOperation<Self, Journaled<Self>> {
    self.journaled(
      as: name,
      aliases: aliases,
      version: version,
      policy: policy,
      coder: coder,
      in: journal,
      excluding: exclusion,
      failsForGood: .where(failsForGood),
      migrate: migrate,
      else: failure
    )
  }
}
