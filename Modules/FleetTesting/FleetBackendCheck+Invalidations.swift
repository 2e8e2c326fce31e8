internal import OperationFleet

/// The checks of invalidations.
extension FleetBackendCheck {
  func checkInvalidations() async throws -> [String] {
    let tag = FleetSubject("t:post:i1")
    let paths = ["posts", "posts/1", "posts/1/comments", "posts/10", "users"]
    func put() async throws {
      for path in paths { try await self.put(self.key(path)) }
      try await self.put(self.key("tagged"), tags: [FleetSubject("t:posts"), tag])
    }
    let cases: [(FleetSubject, [String])] = [
      (self.subject("posts/1"), ["posts/1", "posts/1/comments"]),
      (self.subject("posts"), ["posts", "posts/1", "posts/1/comments", "posts/10"]),
      (tag, ["tagged"]),
      (FleetSubject("t:post:i2"), []),
      (self.subject("post"), []),
      (FleetSubject("p"), paths + ["tagged"]),
    ]
    var findings: [String] = []
    for (subject, expected) in cases {
      try await put()
      try await self.invalidate(subject)
      for path in paths + ["tagged"] where try await self.isFresh(self.key(path)) == expected.contains(path) {
        let what = expected.contains(path) ? "is fresh" : "is stale"
        findings.append("after an invalidation of \(subject), the value of \(path) \(what). Compare its subjects.")
      }
    }
    try await self.put(self.key("users"))
    if try await !self.isFresh(self.key("users")) {
      findings.append("a value that was computed after an invalidation is stale. Compare the epochs.")
    }
    return findings
  }

  func checkLateValues() async throws -> [String] {
    let tag = FleetSubject("t:post:i1")
    var findings: [String] = []
    for (subject, isRefused) in [
      (self.subject("posts/1"), true), (FleetSubject("p"), true), (tag, true), (self.subject("users"), false),
    ] {
      let key = self.key("posts/1")
      let (lease, epoch) = try await self.lease(key)
      try await self.invalidate(subject)
      let write = FleetWrite(lease: lease, epoch: epoch, tags: [tag], bytes: [1], timeToLive: Self.hour)
      let answer = try await self.backend.store(write)
      if isRefused != (answer == .invalidated) {
        let remedy = isRefused ? "Refuse it with `invalidated`." : "Only subjects of the value matter."
        findings.append("\(subject) was invalidated during a run, and its value got \(answer). \(remedy)")
      }
      let next = try await self.acquire(key, "b", knowing: .max)
      guard case .granted(let lease, _) = next else {
        findings.append("a value was refused or stored, and its lease was held after it: \(next). End the lease.")
        continue
      }
      try await self.backend.releaseLease(lease)
    }
    return findings
  }

  func checkEpochs() async throws -> [String] {
    let key = self.key("posts/1")
    var findings: [String] = []
    var last = try await self.backend.lookUp([key]).epoch
    for number in 0..<5 {
      let epoch = try await self.invalidate(self.subject(number % 2 == 0 ? "posts" : "users"))
      if epoch <= last {
        findings.append("the epoch \(last) was followed by \(epoch). Let epochs ascend.")
      }
      last = epoch
      let seen = try await self.backend.lookUp([key]).epoch
      let known = try await self.backend.invalidations(since: epoch).epoch
      let (lease, granted) = try await self.lease(key)
      try await self.backend.releaseLease(lease)
      if [seen, known, granted].contains(where: { $0 < epoch }) {
        findings.append("after the epoch \(epoch), answers had \(seen), \(known) and \(granted). Give the last one.")
      }
    }
    return findings
  }

  func checkListing() async throws -> [String] {
    let start = try await self.backend.lookUp([self.key("posts")]).epoch
    let (posts, users, tag) = (self.subject("posts"), self.subject("users"), FleetSubject("t:tag"))
    try await self.invalidate(posts)
    let middle = try await self.backend.invalidate([users, tag], by: "other")
    let end = try await self.invalidate(posts)
    var findings: [String] = []
    for (epoch, expected) in [(start, [posts, users, tag]), (middle, [posts]), (end, [])] {
      let answer = try await self.backend.invalidations(since: epoch)
      guard case .listed(let list, let upTo) = answer else {
        findings.append("few invalidations came after the epoch \(epoch), and the answer was \(answer). List them.")
        continue
      }
      if list.map(\.subject.text).sorted() != expected.map(\.text).sorted() {
        findings.append(
          "after the epoch \(epoch), \(list.map(\.subject)) were listed, not \(expected). List each subject once."
        )
      }
      for item in list where item.epoch != (item.subject == posts ? end : middle) || item.epoch > upTo {
        findings.append("\(item.subject) was listed with the epoch \(item.epoch). List the last invalidation of each.")
      }
      for item in list where item.node != (item.subject == posts ? "node" : "other") {
        findings.append("\(item.subject) was invalidated by another node than \(item.node). Keep the name.")
      }
    }
    return findings
  }

  func checkForgetting() async throws -> [String] {
    let epoch = try await self.invalidate(self.subject("posts"))
    let future = FleetEpoch(rawValue: epoch.rawValue + 1_000_000)
    let answer = try await self.backend.invalidations(since: future)
    var findings: [String] = []
    guard case .everything(let upTo) = answer, upTo == epoch else {
      return ["a node knew an epoch that never was, and got \(answer). Answer with `everything`."]
    }
    for batch in 0..<(FleetLimits.invalidations / FleetLimits.batch + 1) {
      let subjects = (0..<FleetLimits.batch).map { FleetSubject("t:\(batch):\($0)") }
      _ = try await self.backend.invalidate(subjects, by: "node")
    }
    guard case .everything = try await self.backend.invalidations(since: epoch) else {
      findings.append("more than \(FleetLimits.invalidations) subjects were listed. Answer with `everything`.")
      return findings
    }
    return findings
  }
}
