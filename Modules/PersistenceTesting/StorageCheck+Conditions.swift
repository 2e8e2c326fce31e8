internal import OperationPersistence

/// The check of batches with conditions.
extension StorageCheck {
  func checkConditions() async throws -> [String] {
    let findings = try await self.checkWhatHolds()
    return findings.isEmpty ? try await self.checkManyWriters() : findings
  }

  private func version(_ key: String, _ value: [UInt8]) -> StorageVersion { StorageVersion(of: value, at: key) }

  private func checkWhatHolds() async throws -> [String] {
    try await self.storage.apply(["a", "a/b"].map { .put(key: $0, value: [1]) })
    let long = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    let steps: [(moment: String, batch: [StorageChange], conditions: [StorageCondition], refused: Int?)] = [
      ("the entry was as put", [.put(key: "a", value: [2])], [.unchanged(key: "a", self.version("a", [1]))], nil),
      ("the entry was changed", [.put(key: "a", value: [3])], [.unchanged(key: "a", self.version("a", [1]))], 0),
      ("there was no entry", [.put(key: "c", value: long)], [.absent(key: "c")], nil),
      ("there was an entry", [.put(key: "c", value: [9])], [.absent(key: "c")], 0),
      (
        "the entry was removed", [.put(key: "d", value: [9])], [.unchanged(key: "d", self.version("d", [1]))], 0
      ),
      (
        "the second condition did not hold", [.remove(key: "a"), .put(key: "e", value: [9])],
        [.unchanged(key: "a", self.version("a", [2])), .absent(key: "a/b")], 1
      ),
      (
        "both conditions held", [.remove(key: "a"), .put(key: "a/b", value: [2])],
        [.unchanged(key: "a", self.version("a", [2])), .unchanged(key: "c", self.version("c", long))], nil
      ),
      ("a batch had no change, and its condition did not hold", [], [.absent(key: "c")], 0),
    ]
    let remedy = "Compare the entries, and make all changes of the batch or none."
    for step in steps {
      let expected = step.refused.map { StorageOutcome.refused(step.conditions[$0]) } ?? .made
      let outcome = try await self.storage.apply(step.batch, if: step.conditions)
      if outcome != expected { return ["\(step.moment), and the outcome was \(outcome), not \(expected). \(remedy)"] }
    }
    let entries = try await self.storage.entries(withPrefix: "")
    let left = [StorageEntry(key: "a/b", value: [2]), StorageEntry(key: "c", value: long)]
    if entries == left { return [] }
    let found = entries.map { "\($0.key): \([UInt8]?.some($0.value).text)" }
    return ["after batches with conditions there was \(found), not [a/b: [2], c: 100000 bytes]. \(remedy)"]
  }

  /// Each of some tasks adds one to a number, as often as it has read it before another task has changed it.
  private func checkManyWriters() async throws -> [String] {
    try await self.put("number", [0])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<5 {
            while true {
              let number = try await self.value("number") ?? []
              let next = StorageChange.put(key: "number", value: [(number.first ?? 0) + 1])
              let condition = StorageCondition.unchanged(key: "number", self.version("number", number))
              if try await self.storage.apply([next], if: [condition]) == .made { break }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let sum = try await self.value("number")
    if sum == [40] { return [] }
    return [
      """
      8 tasks added 5 to a number, each time on the condition that it was as they had read it, and it was \(sum.text) in \
      the end, not [40]. Compare and change in one step: implement `apply(_:if:)`.
      """
    ]
  }
}
