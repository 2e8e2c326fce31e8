internal import OperationPersistence

/// The check of the leases of a storage that has them.
extension StorageCheck {
  func checkLeases() async throws -> [String] {
    guard let storage = self.storage as? any LeasingStorage else { return [] }
    let findings = try await self.checkOwners(of: storage)
    if !findings.isEmpty { return findings }
    return try await self.checkEnds(in: storage) + self.checkManyOwners(of: storage)
  }

  private func checkOwners(of storage: any LeasingStorage) async throws -> [String] {
    func take(_ owner: String, _ name: String = "lease") async throws -> StorageLease {
      try await storage.acquireLease(name, owner: owner, for: .seconds(3_600))
    }
    func isRefused(_ lease: StorageLease) -> Bool {
      guard case .heldByAnother(let remaining) = lease else { return false }
      return remaining > .zero && remaining <= .seconds(3_600)
    }
    guard try await take("a") == .held else { return ["the lease was free, and it was refused. Grant it."] }
    var lease = try await take("b")
    guard isRefused(lease) else {
      return ["\"a\" held a lease for an hour, and \"b\" got \(lease). Refuse it, with the time until its end."]
    }
    lease = try await take("a")
    guard lease == .held else { return ["\"a\" renewed its lease, and got \(lease). Let an owner renew it."] }
    try await storage.releaseLease("lease", owner: "b")
    lease = try await take("b")
    guard isRefused(lease) else {
      return ["\"b\" released the lease of \"a\", and then got \(lease). Let only its owner release a lease."]
    }
    lease = try await take("b", "lease 2")
    guard lease == .held else { return ["a lease with another name was refused: \(lease). Compare the names."] }
    try await storage.releaseLease("lease", owner: "a")
    lease = try await take("b")
    guard lease == .held else { return ["\"a\" released its lease, and \"b\" got \(lease). End it at once."] }
    return try await self.finding("with leases", expected: [], "Keep leases apart from the entries.")
  }

  private func checkEnds(in storage: any LeasingStorage) async throws -> [String] {
    let short = Duration.milliseconds(20)
    _ = try await storage.acquireLease("short", owner: "a", for: short)
    _ = try await storage.acquireLease("renewed", owner: "a", for: short)
    _ = try await storage.acquireLease("renewed", owner: "a", for: .seconds(3_600))
    try await self.pass(self.storage, short)
    var findings: [String] = []
    let ended = try await storage.acquireLease("short", owner: "b", for: .seconds(3_600))
    if ended != .held { findings.append("a lease of \(short) was over, and \"b\" got \(ended). End it by its time.") }
    if try await storage.acquireLease("renewed", owner: "b", for: short) == .held {
      findings.append("a lease was renewed for an hour, and \"b\" got it after \(short). Let it last from the renewal.")
    }
    return findings
  }

  private func checkManyOwners(of storage: any LeasingStorage) async throws -> [String] {
    let count = try await withThrowingTaskGroup(of: Bool.self) { group in
      for owner in 0..<8 {
        group.addTask {
          try await storage.acquireLease("many", owner: "\(owner)", for: .seconds(3_600)) == .held
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    return count == 1 ? [] : ["8 owners took a lease at once, and \(count) got it. Decide in one step."]
  }
}
