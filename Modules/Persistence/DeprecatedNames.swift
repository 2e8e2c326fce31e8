public import OperationCore

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
