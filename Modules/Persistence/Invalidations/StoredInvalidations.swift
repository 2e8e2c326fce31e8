internal import OperationCore
internal import Synchronization

/// The invalidations that a storage remembers: those of this process, and those of earlier ones that were read.
///
/// Each process numbers its own, and writes one entry for each subject: `epoch/PROCESS/SUBJECT`, with the number of the
/// last invalidation. A process notes once what it has read of the others: `epoch/=PROCESS`. So a value needs to name
/// only the process that has stored it, and the number that its run had seen there. It has seen an invalidation of
/// another process if its own has read it.
///
/// No order holds between processes that run at the same time: a value of one of them has not seen what the other
/// invalidates, and is stale after the next start although it may be newer. It is never fresh although it is older.
struct StoredInvalidations: Sendable {
  /// The prefix of all entries.
  static let prefix = "epoch/"
  private static let floorKey = prefix + "=floor"
  private static let maximumSubjects = 10_000
  private static let maximumProcesses = 64

  /// The last invalidations, by process.
  private typealias Numbers = [String: Int]

  /// Identifies this process among those that write to the storage.
  let process: String
  /// The last invalidations of each subject.
  private var numbers: [String: Numbers] = [:]
  /// What each process has read of the others.
  private var known: [String: Numbers] = [:]
  /// Ascends with the starts of processes, as far as they have read each other.
  private var sequence = 1
  /// Whether values of processes that are not in ``known`` count as invalidated.
  private var hasFloor = false
  private var ownSubjects: [String: Int] = [:]
  /// Whether no value is stored, so that nothing has to be remembered. A value that is stored later is known by its store.
  var hasNoValues = false
  private(set) var isLoaded = false
  private var hasWrittenKnown = false

  init() {
    self.process = String(UInt64.random(in: 0...UInt64.max), radix: 36)
  }
}

// MARK: - Asking

extension StoredInvalidations {
  /// What a value says that this process stores; nil if nothing was invalidated.
  func seen(_ epoch: InvalidationEpoch) -> ValueMark.Seen? {
    if self.isLoaded, self.numbers.isEmpty, !self.hasFloor { return nil }
    return ValueMark.Seen(log: self.process, number: epoch.rawValue)
  }

  /// What a stored value has seen of this process.
  func epoch(of mark: ValueMark) -> InvalidationEpoch {
    guard let seen = mark.seen, seen.log == self.process else { return .zero }
    return InvalidationEpoch(rawValue: seen.number)
  }

  /// Whether an invalidation that a stored value has not seen concerns it.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - mark: What its first line says.
  /// - Returns: Whether the value is stale.
  func concern(_ key: String, _ mark: ValueMark) -> Bool {
    if self.hasFloor, mark.seen.map({ $0.log != self.process && self.known[$0.log] == nil }) ?? true { return true }
    if self.numbers.isEmpty { return false }
    // `value/sposts/i5/=post=` lies below `p`, `psposts/` and `psposts/i5/`.
    let path = key.utf8.dropFirst(StorageKey.values.utf8.count).prefix { $0 != UInt8(ascii: "=") }
    var prefix = StoredSubject.everything
    if self.concern(prefix, unseenBy: mark) { return true }
    for element in path.split(separator: UInt8(ascii: "/")) {
      prefix += Substring(element) + "/"
      if self.concern(prefix, unseenBy: mark) { return true }
    }
    for tag in mark.tags {
      if self.concern(tag, unseenBy: mark) { return true }
      // An entry for all tags of the name, or a value with perhaps any of them: both are filed under the name.
      if let name = StoredSubject.name(ofTag: tag), name != tag, self.concern(name, unseenBy: mark) { return true }
      if tag.utf8.first == UInt8(ascii: "n"), self.concern("a" + tag, unseenBy: mark) { return true }
    }
    return false
  }

  private func concern(_ subject: String, unseenBy mark: ValueMark) -> Bool {
    guard let last = self.numbers[subject] else { return false }
    return last.contains { process, number in !self.has(mark, seen: number, of: process) }
  }

  private func has(_ mark: ValueMark, seen number: Int, of process: String) -> Bool {
    guard let seen = mark.seen else { return false }
    if seen.log == process { return seen.number >= number }
    return (self.known[seen.log]?[process] ?? -1) >= number
  }
}

// MARK: - Adding

extension StoredInvalidations {
  /// Adds an invalidation of this process.
  ///
  /// - Returns: The entries to write, by their keys; nil for one to remove.
  mutating func append(_ subjects: [String], _ number: Int) -> [String: [UInt8]?] {
    if self.hasNoValues { return [:] }
    var changes: [String: [UInt8]?] = [:]
    for subject in subjects {
      self.ownSubjects[subject] = number
      self.file(subject, number, of: self.process)
      changes[self.key(of: subject)] = self.bytes(number)
    }
    if self.ownSubjects.count > Self.maximumSubjects { self.forgetOlderHalf(&changes) }
    return changes
  }

  /// The entry that tells what this process has read of others, once.
  mutating func takeKnown() -> (key: String, bytes: [UInt8])? {
    guard self.isLoaded, !self.hasWrittenKnown, !self.numbers.isEmpty || self.hasFloor else { return nil }
    self.hasWrittenKnown = true
    let numbers = self.known[self.process] ?? [:]
    let words = ["known1", String(self.sequence)] + numbers.map { "\($0.key):\($0.value)" }.sorted()
    return ("\(Self.prefix)=\(self.process)", Array(words.joined(separator: " ").utf8))
  }

  private func key(of subject: String) -> String { "\(Self.prefix)\(self.process)/\(subject)" }

  private func bytes(_ number: Int) -> [UInt8] { Array(String(number).utf8) }

  /// Files a number under a subject, and that of a tag under what concerns values with perhaps any tag.
  private mutating func file(_ subject: String, _ number: Int, of process: String) {
    func note(_ subject: String, _ numbers: inout [String: Numbers]) {
      let last = numbers[subject]?[process] ?? 0
      numbers[subject, default: [:]][process] = max(last, number)
    }
    note(subject, &self.numbers)
    if let name = StoredSubject.name(ofTag: subject) {
      note("a" + name, &self.numbers)
      note("a" + ValueMark.anyTag, &self.numbers)
    }
  }

  /// Replaces the older half of the own entries by one of everything.
  private mutating func forgetOlderHalf(_ changes: inout [String: [UInt8]?]) {
    let middle = self.ownSubjects.values.sorted()[self.ownSubjects.count / 2]
    for (subject, number) in self.ownSubjects where number <= middle {
      self.ownSubjects[subject] = nil
      changes.updateValue(nil, forKey: self.key(of: subject))
    }
    let everything = max(middle, self.ownSubjects[StoredSubject.everything] ?? 0)
    self.ownSubjects[StoredSubject.everything] = everything
    changes[self.key(of: StoredSubject.everything)] = self.bytes(everything)
    for subject in self.numbers.keys { self.numbers[subject]?[self.process] = nil }
    self.numbers = self.numbers.filter { !$0.value.isEmpty }
    for (subject, number) in self.ownSubjects { self.file(subject, number, of: self.process) }
  }

  /// Forgets everything, because all values were removed.
  ///
  /// - Parameter isShared: Whether other processes may store values, which the next invalidations concern.
  mutating func removeAll(isShared: Bool) {
    self.numbers = [:]
    self.ownSubjects = [:]
    self.known = [:]
    self.hasFloor = false
    self.hasWrittenKnown = false
    self.hasNoValues = !isShared
  }

  /// Forgets everything, because another process has removed all values. What is there now is read again.
  ///
  /// What this process has invalidated since then may concern what others have stored since then. It becomes one
  /// invalidation of everything, because its subjects may be of the former user.
  ///
  /// - Parameter keys: The keys of entries that are not written. Entries of this process are from after the removal:
  ///   earlier ones were written or refused before it.
  /// - Returns: The entry to write; nil if this process has invalidated nothing since then.
  mutating func forget(unwritten keys: some Sequence<String>) -> (key: String, bytes: [UInt8]?)? {
    let prefix = self.key(of: "")
    let subjects = keys.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    let last = subjects.compactMap { self.ownSubjects[$0] }.max()
    self.removeAll(isShared: true)
    self.isLoaded = false
    guard let last, let entry = self.append([StoredSubject.everything], last).first else { return nil }
    return (entry.key, entry.value)
  }
}

// MARK: - Reading

extension StoredInvalidations {
  /// Takes the entries of the storage over.
  ///
  /// - Returns: The entries of old processes to remove, and one that says so.
  mutating func load(_ entries: [StorageEntry]) -> [StorageChange] {
    guard !self.isLoaded else { return [] }
    self.isLoaded = true
    var last: Numbers = [:]
    var sequences: Numbers = [:]
    for entry in entries {
      let words = entry.key.dropFirst(Self.prefix.count).split(separator: "/", maxSplits: 1)
      if entry.key == Self.floorKey {
        self.hasFloor = true
      } else if let name = words.first, name.first == "=", words.count == 1 {
        self.read(entry.value, of: String(name.dropFirst()), &sequences)
      } else if words.count == 2 {
        let process = String(words[0])
        // Of one that is damaged, the subject is known.
        let number = Int(String(decoding: entry.value, as: UTF8.self)) ?? .max
        self.file(String(words[1]), number, of: process)
        last[process] = max(last[process] ?? 0, number)
      }
    }
    // One that another program has written may be the greatest there is.
    self.sequence = min(sequences.values.max() ?? 0, .max - 1) + 1
    last[self.process] = nil
    let changes = self.forgetOldProcesses(among: entries, last, sequences)
    self.known[self.process] = last
    return changes
  }

  private mutating func read(_ bytes: [UInt8], of process: String, _ sequences: inout Numbers) {
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard words.count >= 2, words[0] == "known1", let sequence = Int(words[1]) else { return }
    sequences[process] = sequence
    self.known[process] = [:]
    for word in words.dropFirst(2) {
      let parts = word.split(separator: ":")
      if parts.count == 2, let number = Int(parts[1]) { self.known[process]?[String(parts[0])] = number }
    }
  }

  /// Forgets the oldest of too many processes. From then on, values of unknown processes count as invalidated, and a
  /// process that has not read all of a forgotten one is forgotten, too.
  private mutating func forgetOldProcesses(
    among entries: [StorageEntry],
    _ last: Numbers,
    _ sequences: Numbers
  ) -> [StorageChange] {
    let processes = Set(last.keys).union(sequences.keys)
    if processes.count <= Self.maximumProcesses { return [] }
    let ordered = processes.sorted { (sequences[$0] ?? 0, $0) < (sequences[$1] ?? 0, $1) }
    let removed = Set(ordered.prefix(processes.count - Self.maximumProcesses / 2))
    var unknown = removed
    for (process, known) in self.known where removed.contains(where: { (known[$0] ?? -1) < last[$0] ?? -1 }) {
      unknown.insert(process)
    }
    for process in unknown { self.known[process] = nil }
    for subject in self.numbers.keys { for process in removed { self.numbers[subject]?[process] = nil } }
    self.numbers = self.numbers.filter { !$0.value.isEmpty }
    self.hasFloor = true
    var changes: [StorageChange] = [.put(key: Self.floorKey, value: [1])]
    for entry in entries {
      let name = entry.key.dropFirst(Self.prefix.count).prefix { $0 != "/" }
      let isRemoved = name.first == "=" ? unknown.contains(String(name.dropFirst())) : removed.contains(String(name))
      if isRemoved { changes.append(.remove(key: entry.key)) }
    }
    return changes
  }
}
