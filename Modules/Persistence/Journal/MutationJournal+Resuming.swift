internal import OperationBackoff
internal import OperationCore
internal import OperationMutation

/// The settings of a journal that resumes by itself.
struct JournalCondition: Sendable {
  var specification: AnySendableRunSpecification?
  var subscription: OperationSubscription?
}

/// The calls that a journal makes again by itself.
enum JournalSelection: Sendable {
  /// The calls that wait and have not failed.
  case waiting
  /// All calls, also the failed ones, because their failures may have passed.
  case all
  /// All calls but those whose last failure has asked to wait for longer than this time.
  case allButHinted(at: Duration)
  /// One call, and the calls behind it in its scope.
  case call(JournalState.Position)
  /// The calls of a name that was registered, and all calls that have not failed, because they may wait behind them.
  case name(String)
  /// From now on also the calls of names that are not registered. They are reported.
  case unregistered

  fileprivate var isOneCall: Bool { if case .call = self { true } else { false } }
}

extension MutationJournal {
  /// If the journal resumes by itself: how long calls of a name that is not registered wait before they are reported.
  static let registrationTime = Duration.seconds(30)

  /// The longest time for which a journal waits because an error asks for it.
  static let longestHint = Duration.seconds(86_400)

  var resumesByItself: Bool { self.condition.withLock { $0.specification != nil } }

  /// Begins to resume by itself, with the condition of the client or of the journal.
  func beginResuming() {
    guard let specification = self.resumingSpecification else { return }
    let context: @Sendable () -> OperationContext = { [weak self] in
      self?.boundClient?.defaultContext ?? OperationContext()
    }
    self.condition.withLock { condition, released in
      released.append(condition.specification)
      condition.specification = specification
    }
    let subscription = specification.subscribeToRises(in: context) { [weak self] in self?.conditionHasRisen() }
    let earlier = self.condition.withLock { condition in
      defer { condition.subscription = subscription }
      return condition.subscription
    }
    earlier?.cancel()
    let now = self.deadlines.elapsed
    self.change { $0.rebaseAlarms(reportingAt: now + Self.registrationTime) }
    self.resumeByItself(.all)
  }

  /// Makes the failed calls again, because the condition holds again and their failures may have passed.
  ///
  /// A condition that changes often does so less and less often: see ``JournalRises``.
  func conditionHasRisen() {
    let context = self.boundClient?.defaultContext ?? OperationContext()
    // It may have ceased to hold meanwhile. It then rises again.
    guard let specification = self.condition.withLock({ $0.specification }), specification.isSatisfied(in: context)
    else { return }
    self.checkSchedules()
    let now = self.deadlines.elapsed
    guard self.change({ $0.noteRise(at: now) }) else { return }
    self.resumeByItself(.allButHinted(at: now))
  }

  private var resumingSpecification: AnySendableRunSpecification? {
    let client = self.boundClient
    let observed = client?.storeCreator.connectionSpecification
    switch self.resumes?.condition {
    case .never: return nil
    case .specification(let specification): return AnySendableRunSpecification(specification)
    case .client:
      guard client != nil else { return nil }
      return AnySendableRunSpecification(observed ?? AlwaysRunSpecification(isTrue: true))
    case nil: return observed.map { AnySendableRunSpecification($0) }
    }
  }

  /// Shows the updates of calls of earlier starts, and makes the calls again if the condition holds.
  func resumeByItself(_ selection: JournalSelection) {
    guard let specification = self.condition.withLock({ $0.specification }) else { return }
    let client = self.boundClient
    guard self.state.withLock({ $0.loading == .loaded }), client?.automaticRunsAreStopped.isOn != true else { return }
    if !selection.isOneCall { self.showUpdates(of: self.change { $0.unshownPositions }) }
    if case .unregistered = selection { self.change { $0.makesUnregistered = true } }
    guard specification.isSatisfied(in: client?.defaultContext ?? OperationContext()) else { return }
    self.change { $0.resumeByItself(selection) }
  }

  /// The time after which a failed call is made again; nil if the journal does not resume by itself.
  func backoff(afterFailures count: Int, _ error: (any Error)?) -> Duration? {
    guard self.resumesByItself else { return nil }
    let backoff = self.resumes?.backoff ?? Resuming.defaultBackoff
    return max(backoff(count), min(error?.retryHint ?? .zero, Self.longestHint)).clampedForClock
  }
}

extension JournalState {
  /// The calls with updates that can be shown and never were.
  fileprivate var unshownPositions: [Position] {
    self.items.filter { $0.value.updates == nil && self.mayBeResumed($0.value) }.keys.sorted()
  }

  func mayBeResumed(_ item: Item) -> Bool {
    guard item.isPending, item.activity.isNone, !item.isGone, !item.isDue, let record = item.record
    else { return false }
    // A call that is to be discarded has a time of its own.
    return self.makesUnregistered || item.unregisteredSince != nil || self.names.contains(record.name)
  }

  fileprivate mutating func resumeByItself(_ selection: JournalSelection) {
    let positions = self.positions(of: selection).sorted()
    // Without any, too: what is learned of other processes later is watched, and made when they have ended.
    if !positions.isEmpty || self.lastResumption == 0 { self.lastResumption += 1 }
    guard !positions.isEmpty else { return }
    for position in positions { self.makeDue(position, in: self.lastResumption) }
    self.dueWithoutScope.sort(by: >)
    self.advanceAll(positions)
  }

  private func positions(of selection: JournalSelection) -> [Position] {
    switch selection {
    case .call(let position):
      guard let item = self.items[position] else { return [] }
      let calls = item.isInScope ? item.scope.flatMap { self.scopes[$0]?.all }.map(Array.init) ?? [] : [position]
      return calls.filter { self.items[$0].map(self.mayBeResumed) ?? false }
    case .waiting, .unregistered:
      return Array(self.items.filter { !$0.value.isHeld && self.mayBeResumed($0.value) }.keys)
    case .allButHinted(let now):
      let calls = self.items.filter { ($0.value.hold.hintEnd ?? now) <= now && self.mayBeResumed($0.value) }
      return Array(calls.keys)
    case .all: return Array(self.items.filter { self.mayBeResumed($0.value) }.keys)
    case .name(let name):
      let calls = self.items.filter { !$0.value.isHeld || $0.value.record?.name == name }
      return Array(calls.filter { self.mayBeResumed($0.value) }.keys)
    }
  }

  /// Forgets the times by earlier deadlines. The next resumption makes the failed calls again.
  fileprivate mutating func rebaseAlarms(reportingAt time: Duration) {
    for alarm in Array(self.alarms.map(\.key)) where alarm.kind == .retry { self.setRetry(of: alarm.position, at: nil) }
    for alarm in Array(self.alarms.map(\.key)) where alarm.kind == .report || alarm.kind == .rise {
      self.alarms.removeValue(for: alarm)
    }
    self.rises = JournalRises()
    for position in self.items.keys {
      if self.items[position]?.isHeld == true { self.items[position]?.hold = .held }
      self.items[position]?.unregisteredSince = nil
    }
    self.alarms.insert((), for: JournalAlarm(time: time, position: 0, kind: .report))
  }
}
