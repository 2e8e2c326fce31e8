internal import OperationPersistence

/// The checks with several tasks, and of failing, closing and reopening.
extension StorageCheck {
  func checkVisibility() async throws -> [String] {
    let keys = (0..<20).map { "key \($0 / 10)\($0 % 10)" }
    for (number, key) in keys.enumerated() {
      try await self.put(key)
      let found = try await Task.detached { try await self.keys().count }.value
      if found != number + 1 {
        return [
          "after the batch \(number + 1) another task found \(found) entries. Return from `apply(_:)` after the change."
        ]
      }
    }
    return []
  }

  func checkAtomicity() async throws -> [String] {
    func pair(_ number: UInt8) -> [StorageChange] {
      [.put(key: "first", value: [number]), .put(key: "second", value: [number])]
    }
    try await self.storage.apply(pair(0))
    return try await withThrowingTaskGroup(of: [String].self) { group in
      for task in 0..<2 {
        group.addTask {
          for round in 1...50 { try await self.storage.apply(pair(UInt8(task * 100 + round))) }
          return []
        }
        group.addTask {
          for _ in 1...50 {
            let values = try await self.storage.entries(withPrefix: "").map(\.value)
            if values.count != 2 || values[0] != values[1] {
              return [
                "each batch gives two keys the same value, and a reader found \(values). Make a batch visible at once."
              ]
            }
          }
          return []
        }
      }
      var findings: [String] = []
      for try await finding in group where findings.isEmpty { findings = finding }
      return findings.isEmpty ? try await self.checkLargeBatches() : findings
    }
  }

  private func checkLargeBatches() async throws -> [String] {
    let keys = (1_000..<2_500).map { "large/\($0)" }
    return try await withThrowingTaskGroup(of: [String].self) { group in
      group.addTask {
        for _ in 0..<2 {
          try await self.storage.apply(keys.map { .put(key: $0, value: [1]) })
          try await self.storage.apply(keys.map { .remove(key: $0) })
        }
        return []
      }
      group.addTask {
        for _ in 0..<20 {
          let count = try await self.keys("large/").count
          if count != 0, count != keys.count {
            return ["a batch has \(keys.count) entries, and a reader found \(count). Do not split a large batch."]
          }
        }
        return []
      }
      var findings: [String] = []
      for try await finding in group where findings.isEmpty { findings = finding }
      return findings
    }
  }

  func checkConcurrency() async throws -> [String] {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 10..<18 {
        group.addTask {
          for round in 10..<20 { try await self.put("\(task)/\(round)") }
        }
      }
      try await group.waitForAll()
    }
    let count = try await self.keys().count
    if count == 80 { return [] }
    return [
      "8 tasks put 10 entries each, and \(count) of the 80 are there. Let batches take effect one after the other."
    ]
  }

  func checkReopening() async throws -> [String] {
    guard let reopen else { return [] }
    try await self.storage.apply(["a", "b", "c"].map { .put(key: $0, value: Array($0.utf8)) })
    try await self.put("a", [7])
    try await self.storage.apply([.remove(key: "b")])
    await self.storage.close()
    let again = try await reopen(self.storage)
    let entries = try await again.entries(withPrefix: "")
    await again.close()
    let expected = [StorageEntry(key: "a", value: [7]), StorageEntry(key: "c", value: Array("c".utf8))]
    if entries == expected { return [] }
    let found = entries.map { "\($0.key): \($0.value)" }
    return ["opened again, it had \(found), not [a: [7], c: [99]]. Write before `apply(_:)` returns."]
  }

  func checkFailure() async throws -> [String] {
    guard let obstruct else { return [] }
    try await self.put("a", [1])
    try await obstruct(self.storage)
    let batch: [StorageChange] = [.put(key: "b", value: [2]), .remove(key: "a"), .put(key: "c", value: [3])]
    let remedy = "Throw the error of the system, and make all changes of a batch or none."
    do {
      try await self.storage.apply(batch)
      return ["a batch was applied without an error while the storage could not write. \(remedy)"]
    } catch {
      return try await self.finding("after a batch that has failed", expected: ["a"], remedy)
    }
  }

  func checkSplitting() async throws -> [String] {
    guard let refuse else { return [] }
    try await self.put("a")
    try await refuse(self.storage, "bad")
    let remedy = "Make all changes of a batch or none, and apply the next batch as if the refused one had not been."
    let batches = [["b", "bad", "c"], ["b"], ["bad"], ["c", "d"]]
    for batch in batches {
      do {
        try await self.storage.apply(batch.map { .put(key: $0, value: [1]) })
        if batch.contains("bad") { return ["the batch \(batch) was applied, and \"bad\" was to be refused. \(remedy)"] }
      } catch {
        if !batch.contains("bad") {
          return ["after a batch with \"bad\", the batch \(batch) threw \(error). \(remedy)"]
        }
      }
    }
    return try await self.finding("after a batch was split", expected: ["a", "b", "c", "d"], remedy)
  }

  func checkClosing() async -> [String] {
    await self.storage.close()
    await self.storage.close()
    var calls: [String] = []
    do {
      _ = try await self.storage.entries(withPrefix: "")
      calls.append("`entries(withPrefix:)`")
    } catch {}
    do {
      try await self.put("a")
      calls.append("`apply(_:)`")
    } catch {}
    if calls.isEmpty { return [] }
    return ["\(calls.joined(separator: " and ")) threw nothing after `close()`. Throw `StorageError.closed(_:)`."]
  }
}
