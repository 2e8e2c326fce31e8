import OperationPersistence
import OperationTesting
import Synchronization
import Testing

/// A storage in memory with a fault.
final class BrokenStorage: PersistentStorage {
  enum Fault: String, CaseIterable, Sendable {
    case none, dropsLargeValues, comparesStrings, keepsOldest, removesPrefixes, foldsCase, keepsInsertionOrder
    case appliesLate, appliesHalves, losesBatches, swallows, failsHalfway, staysOpen
    case throwsForNothing, splitsLargeBatches, staysRefusing, refusesNothing
    case leasesToAll, leasesOnce, leasesForever, keepsFirstEnd, lendsForOthers, mixesNames, keepsReleased, showsLeases
    case leasesInTwoSteps
    case sizesAll, sizesNothing
    case ignoresConditions, comparesOneCondition, comparesInTwoSteps
  }

  struct DiskIsFull: Error {}

  private struct State {
    var entries: [StorageEntry] = []
    var late: [StorageChange] = []
    var batchCount = 0
    var isClosed = false
    var isObstructed = false
    var refusedKey: String?
    var hasRefused = false
    var leases: [String: (owner: String, end: Duration)] = [:]
    var time = Duration.zero
  }

  private let fault: Fault
  private let state: Mutex<State>
  private let (isHalf, isRead) = (Gate(), Gate())
  private let meeting = Gate()
  /// The first writers of a number, which compare before the first of them changes it.
  private let comparers = Gate()
  private let comparerCount = Atomic(0)

  init(_ fault: Fault = .none, entries: [StorageEntry] = []) {
    self.fault = fault
    self.state = Mutex(State(entries: entries))
  }

  func refuse(_ key: String) {
    self.state.withLock { $0.refusedKey = key }
  }

  func pass(_ duration: Duration) {
    self.state.withLock { $0.time += duration }
  }

  func obstruct() {
    self.state.withLock { $0.isObstructed = true }
  }

  /// The storage with the entries of this one, as if read from a file.
  func reopened(forgetting isEmpty: Bool = false) -> BrokenStorage {
    BrokenStorage(self.fault, entries: isEmpty ? [] : self.state.withLock { $0.entries })
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    if self.fault == .appliesHalves || self.fault == .splitsLargeBatches && prefix == "large/" {
      try await self.isHalf.wait()
    }
    let entries = try self.state.withLock { state in
      if state.isClosed, self.fault != .staysOpen { throw StorageError.closed("double") }
      return state.entries
    }
    if self.fault != .splitsLargeBatches || prefix == "large/" { self.isRead.open() }
    let found = entries.filter { entry in
      self.fault == .foldsCase
        ? entry.key.lowercased().hasPrefix(prefix.lowercased()) : entry.key.utf8.starts(with: prefix.utf8)
    }
    if self.fault == .keepsInsertionOrder { return found }
    return found.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  nonisolated(nonsending) func sizes(withPrefix prefix: String) async throws -> [StorageEntrySize] {
    try await self.entries(withPrefix: self.fault == .sizesAll ? "" : prefix).map { entry in
      StorageEntrySize(key: entry.key, byteCount: self.fault == .sizesNothing ? 0 : entry.value.count)
    }
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {
    let (entries, count, isObstructed) = try self.state.withLock { state in
      if state.isClosed, self.fault != .staysOpen { throw StorageError.closed("double") }
      state.batchCount += 1
      return (state.entries, state.batchCount, state.isObstructed)
    }
    if batch.isEmpty, self.fault == .throwsForNothing { throw DiskIsFull() }
    try self.state.withLock { state in
      guard let key = state.refusedKey, self.fault != .refusesNothing else { return }
      if batch.contains(where: { $0.key == key }) || (state.hasRefused && self.fault == .staysRefusing) {
        state.hasRefused = true
        throw DiskIsFull()
      }
    }
    if isObstructed {
      if self.fault == .failsHalfway { self.make(Array(batch.prefix(1))) }
      if self.fault != .swallows { throw DiskIsFull() }
      return
    }
    switch self.fault {
    case .appliesLate:
      let late = self.state.withLock { state in
        defer { state.late = batch }
        return state.late
      }
      self.make(late)
    case .appliesHalves where count > 1:
      self.make(Array(batch.prefix(1)))
      self.isHalf.open()
      try await self.isRead.wait()
      self.make(Array(batch.dropFirst()))
    case .splitsLargeBatches where batch.count > 1_000:
      self.make(Array(batch.prefix(1_000)))
      self.isHalf.open()
      try await self.isRead.wait()
      self.make(Array(batch.dropFirst(1_000)))
    case .losesBatches:
      // The first two batches begin with the same entries.
      if count == 1 { try await self.meeting.wait() } else { self.meeting.open() }
      let changed = batch.reduce(into: entries) { $0 = self.changed($0, by: $1) }
      if count <= 2 { self.state.withLock { $0.entries = changed } } else { self.make(batch) }
    default: self.make(batch)
    }
  }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let isInTwoSteps = self.fault == .comparesInTwoSteps
    let refused = try self.state.withLock { state -> StorageCondition? in
      if state.isClosed { throw StorageError.closed("double") }
      if self.fault == .ignoresConditions { return nil }
      let compared = self.fault == .comparesOneCondition ? conditions.prefix(1) : conditions[...]
      let refused = compared.first { condition in
        state.entries.first { $0.key.utf8.elementsEqual(condition.key.utf8) }?.version != condition.version
      }
      if refused == nil, !isInTwoSteps {
        for change in batch { state.entries = self.changed(state.entries, by: change) }
      }
      return refused
    }
    if let refused { return .refused(refused) }
    guard isInTwoSteps else { return .made }
    if conditions.first?.key == "number" {
      let count = self.comparerCount.wrappingAdd(1, ordering: .relaxed).newValue
      if count == 1 { try await self.comparers.wait() } else { self.comparers.open() }
    }
    self.make(batch)
    return .made
  }

  nonisolated(nonsending) func close() async {
    self.state.withLock { $0.isClosed = true }
  }

  private func make(_ batch: [StorageChange]) {
    self.state.withLock { state in
      for change in batch { state.entries = self.changed(state.entries, by: change) }
    }
  }

  private func changed(_ entries: [StorageEntry], by change: StorageChange) -> [StorageEntry] {
    var entries = entries
    let index = entries.firstIndex { entry in
      // Strings that Unicode holds equal can be other bytes.
      entry.key == change.key && (self.fault == .comparesStrings || entry.key.utf8.elementsEqual(change.key.utf8))
    }
    switch change {
    case .put(let key, let value):
      let kept = self.fault == .dropsLargeValues ? Array(value.prefix(100)) : value
      let entry = StorageEntry(key: key, value: kept)
      if let index {
        if self.fault != .keepsOldest { entries[index] = entry }
      } else {
        entries.append(entry)
      }
    case .remove(let key):
      if self.fault == .removesPrefixes {
        entries.removeAll { $0.key.hasPrefix(key) }
      } else if let index {
        entries.remove(at: index)
      }
    }
    return entries
  }
}

extension BrokenStorage: LeasingStorage {
  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    let name = self.fault == .mixesNames ? "" : name
    if self.fault == .leasesInTwoSteps, name == "many" { return .held }
    return self.state.withLock { state in
      let lease = state.leases[name]
      let isOver = lease.map { self.fault != .leasesForever && $0.end <= state.time } ?? true
      let isOwn = lease?.owner == owner && self.fault != .leasesOnce
      if let lease, !isOver, !isOwn, self.fault != .leasesToAll {
        return .heldByAnother(remaining: lease.end - state.time)
      }
      let isRenewed = isOwn && !isOver && self.fault == .keepsFirstEnd
      state.leases[name] = (owner, isRenewed ? lease?.end ?? .zero : state.time + duration)
      if self.fault == .showsLeases { state.entries.append(StorageEntry(key: name, value: [])) }
      return .held
    }
  }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
    self.state.withLock { state in
      if self.fault == .keepsReleased { return }
      if self.fault == .lendsForOthers || state.leases[name]?.owner == owner { state.leases[name] = nil }
    }
  }
}
