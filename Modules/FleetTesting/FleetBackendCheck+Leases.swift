internal import OperationFleet

/// The checks of leases.
extension FleetBackendCheck {
  private func isRefused(_ answer: FleetLeaseAnswer, because owner: String) -> Bool {
    guard case .heldByAnother(owner, let remaining) = answer else { return false }
    return remaining > .zero && remaining <= Self.hour
  }

  func checkLeases() async throws -> [String] {
    let key = self.key("posts/1")
    let (lease, _) = try await self.lease(key, "a")
    if lease.owner != "a" || lease.key != key {
      return ["\"a\" asked for a lease, and got a lease of \"\(lease.owner)\" for \(lease.key). Return its own."]
    }
    let answer = try await self.acquire(key, "b")
    guard self.isRefused(answer, because: "a") else {
      return ["\"a\" held a lease for an hour, and \"b\" got \(answer). Refuse it, with the owner and the time left."]
    }
    _ = try await self.lease(self.key("posts/2"), "b")
    try await self.backend.releaseLease(FleetLease(key: key, owner: "b", token: lease.token + 1))
    guard self.isRefused(try await self.acquire(key, "b"), because: "a") else {
      return ["a lease was released with another token, and ended. Compare the tokens."]
    }
    try await self.backend.releaseLease(lease)
    _ = try await self.lease(key, "b")
    let short = self.key("posts/3")
    _ = try await self.lease(short, "a", for: .milliseconds(20))
    try await self.pass(self.backend, .milliseconds(30))
    guard case .granted = try await self.acquire(short, "b") else {
      return ["a lease of 20 ms was over after 30 ms, and was refused. End it by the clock of the backend."]
    }
    return []
  }

  func checkLeaseBatches() async throws -> [String] {
    let keys = (0..<100).map { self.key("users/\($0)") }
    for number in stride(from: 0, to: keys.count, by: 10) { try await self.put(keys[number], [UInt8(number)]) }
    func requests(_ keys: [FleetKey], _ owner: (Int) -> String) -> [FleetLeaseRequest] {
      keys.enumerated().map { FleetLeaseRequest(key: $1, owner: owner($0), duration: Self.hour) }
    }
    let remedy = "Answer each request, in their order."
    let answers = try await self.backend.acquireLeases(requests(keys) { "a\($0)" })
    guard answers.count == keys.count else {
      return ["\(keys.count) leases were asked for at once, and \(answers.count) answers came. \(remedy)"]
    }
    var owners: [FleetKey: String] = [:]
    for (number, answer) in answers.enumerated() {
      switch answer {
      case .fresh(let value, _) where number % 10 == 0 && value.bytes == [UInt8(number)]: break
      case .granted(let lease, _) where number % 10 != 0 && lease.key == keys[number] && lease.owner == "a\(number)":
        owners[lease.key] = lease.owner
      default: return ["the request \(number) of \(keys.count) got \(answer). \(remedy)"]
      }
    }
    let later = try await self.backend.acquireLeases(requests(keys.reversed()) { "b\($0)" })
    for (key, answer) in zip(keys.reversed(), later) {
      guard let owner = owners[key] else { continue }
      if !self.isRefused(answer, because: owner) {
        return ["\"\(owner)\" held a lease, and a request among others got \(answer). Refuse it."]
      }
    }
    let twice = self.key("users/twice")
    let both = try await self.backend.acquireLeases(requests([twice, twice]) { "c\($0)" })
    let count = both.count { if case .granted = $0 { true } else { false } }
    return count == 1 ? [] : ["two owners asked for one lease at once, and \(count) got it. Grant it once."]
  }

  func checkTokens() async throws -> [String] {
    let key = self.key("posts/1")
    var findings: [String] = []
    var last = try await self.lease(key, "a").lease
    let again = try await self.lease(key, "a").lease
    if again.token < last.token {
      findings.append("\"a\" took its lease again, and got a lower token. Keep the token, or give a higher one.")
    }
    if try await self.backend.renewLease(last, for: Self.hour) != (again.token == last.token) {
      findings.append("\"a\" took its lease again, and both tokens are valid, or none. Let the last one be valid.")
    }
    last = again
    for owner in ["b", "c"] {
      try await self.backend.releaseLease(last)
      let next = try await self.lease(key, owner).lease
      if next.token <= last.token {
        findings.append("a lease with the token \(last.token) was followed by \(next.token). Let tokens ascend.")
      }
      last = next
    }
    try await self.backend.releaseLease(last)
    try await self.put(key, [1])
    let next = try await self.lease(key, "d").lease
    if next.token <= last.token {
      findings.append("after a stored value, the token \(last.token) was followed by \(next.token). Let tokens ascend.")
    }
    return findings
  }

  func checkRenewal() async throws -> [String] {
    let key = self.key("posts/1")
    let (lease, _) = try await self.lease(key, "a", for: .milliseconds(400))
    var findings: [String] = []
    if try await !self.backend.renewLease(lease, for: Self.hour) {
      findings.append("a held lease was not renewed. Renew it.")
    }
    try await self.pass(self.backend, .milliseconds(450))
    if case .granted = try await self.acquire(key, "b") {
      findings.append("a lease was renewed for an hour, and another owner got it after 450 ms. Count from the renewal.")
    }
    let short = self.key("posts/2")
    let (ended, _) = try await self.lease(short, "a", for: .milliseconds(20))
    try await self.pass(self.backend, .milliseconds(30))
    if try await self.backend.renewLease(ended, for: Self.hour) {
      findings.append("a lease of 20 ms was renewed after 30 ms. A lease that has ended is not held.")
    }
    if case .heldByAnother = try await self.acquire(short, "b") {
      findings.append("a lease that had ended was held after a renewal. Change nothing.")
    }
    return findings
  }

  func checkAnswers() async throws -> [String] {
    let key = self.key("posts/1")
    let revision = try await self.put(key, [1, 2])
    var findings: [String] = []
    let answer = try await self.acquire(key, "a")
    if case .fresh(let value, _) = answer, value.bytes == [1, 2], value.revision == revision {
    } else {
      findings.append("there was a fresh value, and a request for the lease got \(answer). Answer with the value.")
    }
    let (lease, _) = try await self.lease(key, "a", knowing: revision)
    if case .fresh = try await self.acquire(key, "b") {
    } else {
      findings.append("a lease was held, and a fresh value did not answer a request. The value comes first.")
    }
    if case .fresh = try await self.acquire(key, "b", knowing: revision) {
      findings.append("a request knew the revision of the value, and got it again. Do not answer with that value.")
    }
    if case .fresh = try await self.acquire(key, "b", knowing: revision - 1) {
    } else {
      findings.append("a request knew an older revision, and did not get the value. Answer with the newer value.")
    }
    try await self.backend.releaseLease(lease)
    return findings
  }

  func checkFencing() async throws -> [String] {
    let key = self.key("posts/1")
    func write(_ lease: FleetLease, _ epoch: FleetEpoch, _ byte: UInt8) async throws -> FleetWriteAnswer {
      try await self.backend.store(FleetWrite(lease: lease, epoch: epoch, bytes: [byte], timeToLive: Self.hour))
    }
    let (late, epoch) = try await self.lease(key, "a", for: .milliseconds(20))
    try await self.pass(self.backend, .milliseconds(30))
    var findings: [String] = []
    let remedy = "Refuse it with `leaseEnded`, and change nothing."
    var answer = try await write(late, epoch, 1)
    if answer != .leaseEnded {
      findings.append("a lease had ended, and its value was answered with \(answer). \(remedy)")
    }
    let (lease, _) = try await self.lease(key, "b")
    answer = try await write(late, epoch, 2)
    if answer != .leaseEnded {
      findings.append("another owner held the lease, and a late value was answered with \(answer). \(remedy)")
    }
    answer = try await write(lease, epoch, 3)
    guard case .stored = answer else {
      return findings + ["a late value came, and then the value of the holder was answered with \(answer). Store it."]
    }
    for (text, lease) in [("the late holder", late), ("a holder that has stored already", lease)] {
      answer = try await write(lease, epoch, 4)
      if answer != .leaseEnded {
        findings.append("a value of \(text) was answered with \(answer). \(remedy)")
      }
    }
    let found = try await self.value(key)?.bytes
    if found != [3] {
      findings.append("the holder stored [3], and \(found.map { "\($0)" } ?? "nothing") was found. \(remedy)")
    }
    return findings
  }
}
