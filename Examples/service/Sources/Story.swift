import Foundation
import Operation

/// Plays scenes with the service. Each checks the answers to the visitors and the requests to the upstream server.
struct Story {
  let upstream: Upstream
  let front: Front
  let visitors: Visitors
  let observed: Observed
  let settings: SettingsFile
  var checks = Checks()

  private let articles = [1, 2, 3, 4]
  /// When the breaker lets a call through again, by the clock of the system.
  var probeDate = Date()

  mutating func play() async throws {
    Checks.line("", "requests", "upstream", "")
    try await self.crowd()
    try await self.hiccups()
    try await self.slow()
    try await self.outage()
    try await self.recovery()
    try await self.gone()
    try await self.crush()
    try await self.change()
    self.checkNotices()
  }

  /// Prints a scene, with the number of requests that the upstream server received in it, and returns that number.
  private func report(_ scene: String, requests: Int, since before: Int, _ outcome: String) -> Int {
    let calls = self.upstream.requestCount - before
    Checks.line(scene, "\(requests)", "\(calls)", outcome)
    return calls
  }

  /// Many visitors ask for few articles: callers share a run, and later ones get the stored article.
  private mutating func crowd() async throws {
    let before = self.upstream.requestCount
    let paths = (0..<200).map { "articles/\(self.articles[$0 % 4])" }
    let replies = try await self.visitors.get(paths)
    let calls = self.report("200 visitors at once", requests: 200, since: before, "4 articles, asked for once each")
    self.checks.expect(replies.allSatisfy { $0.status == 200 && $0.answer == .fresh }, "each visitor got an article")
    self.checks.expect(Set(replies.map(\.text)).count == 4, "each visitor got the right article")
    self.checks.expect(calls == 4, "the upstream was asked once for each article, not \(calls) times")

    let again = try await self.visitors.get(paths)
    let more = self.report("200 visitors later", requests: 200, since: before + calls, "all from memory")
    self.checks.expect(again.allSatisfy { $0.status == 200 && $0.answer == .fresh }, "fresh articles were served")
    self.checks.expect(more == 0, "fresh articles were not asked for again, but \(more) times")
  }

  /// Each article is refused once: the retry makes up for it.
  private mutating func hiccups() async throws {
    let (before, retries) = (self.upstream.requestCount, self.observed.total("retries"))
    self.upstream.become(.flaky)
    let replies = try await self.visitors.get((11...Upstream.strictArticle).map { "articles/\($0)" })
    let calls = self.report("the first try fails", requests: 3, since: before, "3 retries, which no visitor saw")
    self.checks.expect(replies.allSatisfy { $0.status == 200 && $0.answer == .fresh }, "a retry hid each hiccup")
    self.checks.expect(calls == 6, "each article took two calls, so 6 and not \(calls)")
    self.checks.expect(self.observed.total("retries") == retries + 3, "the metrics count 3 retries")
    self.upstream.become(.well)
  }

  /// The articles have become stale, and the upstream gives no newer one in time: visitors get the last known ones.
  private mutating func slow() async throws {
    let before = self.upstream.requestCount
    self.upstream.become(.slow)
    self.front.clock.move(by: 70)
    let reply = try await self.visitors.get("articles/1")
    let timeoutsBefore = self.observed.notices["timeout", default: 0]
    // Who wants a value of now waits for the run, which goes on after the visitor has left.
    let now = await Task { [front] in try await front.client.value(of: front.article(1), maximumAge: .zero) }.result
    let timeouts = self.observed.notices["timeout", default: 0]
    let calls = self.report("the upstream hangs", requests: 1, since: before, "stale after 0.5 s, before the timeouts")
    self.checks.expect(reply.status == 200 && reply.answer == .stale, "a stale article came instead of none")
    self.checks.expect(reply.text == "Article 1", "the stale article was the right one")
    self.checks.expect(timeoutsBefore == 0, "the visitor did not wait for \(timeoutsBefore) timeouts")
    self.checks.expect((try? now.get()) == nil, "who accepts no older article gets the failure")
    self.checks.expect(calls == 2 && timeouts == 2, "two attempts were given up, not \(timeouts) of \(calls)")
    self.checks.expect(self.observed.notices["freshness.stale"] == 1, "the metrics count the stale answer")
  }

  /// The upstream refuses everything: the breaker opens, and sends it no more requests.
  private mutating func outage() async throws {
    let before = self.upstream.requestCount
    self.upstream.become(.down)
    var stale = 0
    var requests = 0
    while self.front.breaker.state == .closed, requests < 40 {
      let reply = try await self.visitors.get("articles/\(self.articles[requests % 4])")
      if reply.status == 200, reply.answer == .stale { stale += 1 }
      requests += 1
    }
    if case .open(let date) = self.front.breaker.state {
      self.probeDate = Date() + date.timeIntervalSince(self.front.clock.now())
    }
    let calls = self.report("the upstream is down", requests: requests, since: before, "until the breaker opens")
    self.checks.expect(stale == requests, "each visitor got a stale article")
    self.checks.expect(self.observed.notices["circuit.opened"] == 1, "the breaker opened once")

    let replies = try await self.visitors.get((0..<100).map { "articles/\(self.articles[$0 % 4])" })
    let unknown = try await self.visitors.get("articles/99")
    let strict = try await self.visitors.get("articles/\(Upstream.strictArticle)")
    let related = try await self.visitors.get("articles/1/related")
    let more = self.report("and stays down", requests: 103, since: before + calls, "stale answers, and no call at all")
    self.checks.expect(replies.allSatisfy { $0.status == 200 && $0.answer == .stale }, "all known articles were served")
    self.checks.expect(unknown.status == 503, "an unknown article was refused, with \(unknown.status)")
    self.checks.expect(strict.status == 503, "an article that has to be validated was refused, with \(strict.status)")
    self.checks.expect(related.status == 200 && related.text.isEmpty, "related articles fell back to none")
    self.checks.expect(more == 0, "an open breaker let nothing through, but \(more) calls")
    self.checks.expect(self.observed.notices["circuit.rejected", default: 0] >= 3, "the metrics count rejections")
    self.checks.expect(self.observed.notices["fallback"] == 1, "the metrics count the fallback")
    let served = self.observed.notices["freshness.stale", default: 0]
    self.checks.expect(served == 1 + requests + 100, "the metrics count each stale answer, so \(served)")

    self.front.clock.move(by: 600)
    let old = try await self.visitors.get("articles/1")
    let last = self.report("and ten minutes later", requests: 1, since: before + calls + more, "too old to be served")
    self.checks.expect(old.status == 503, "an article of eleven minutes ago was refused, with \(old.status)")
    self.checks.expect(last == 0, "the breaker was still open")
  }

  /// The upstream is back: a probe goes through, and everything is fresh again.
  private mutating func recovery() async throws {
    let before = self.upstream.requestCount
    self.upstream.become(.well)
    try await Task.sleep(for: .seconds(self.probeDate.timeIntervalSinceNow + 0.1))
    let probe = try await self.visitors.get("articles/1")
    let replies = try await self.visitors.get(self.articles.map { "articles/\($0)" })
    let calls = self.report("the upstream is back", requests: 5, since: before, "one probe, and all is fresh")
    self.checks.expect(([probe] + replies).allSatisfy { $0.answer == .fresh }, "all articles are fresh again")
    self.checks.expect(self.front.breaker.state == .closed, "the breaker is closed")
    self.checks.expect(calls == 4, "each article was asked for once, so 4 calls and not \(calls)")
  }

  /// Visitors wait for a short time, say so, and go. Neither server begins what nobody waits for.
  private mutating func gone() async throws {
    let (before, unbegun) = (self.upstream.requestCount, self.upstream.unbegun.count)
    self.upstream.become(.held)
    async let hurried = self.visitors.get(["articles/31", "articles/32"], headers: ["grpc-timeout": "200m"])
    await self.upstream.requests.reaches(before + 2)
    let late = try await self.visitors.get("articles/33", headers: ["grpc-timeout": "0m"])
    let lateLike = try await self.visitors.post("articles/33/likes", headers: ["grpc-timeout": "0m"])
    let replies = try await hurried
    // The time that the upstream was told is over by its clock, too.
    try await Task.sleep(for: .milliseconds(250))
    self.upstream.become(.well)
    await self.upstream.unbegun.reaches(unbegun + 2)
    let calls = self.report("visitors that have gone", requests: 4, since: before, "2 never sent on, 2 never begun")
    self.checks.expect(replies.allSatisfy { $0.status == 504 }, "visitors in a hurry got their 504 in time")
    self.checks.expect(late.status == 504 && lateLike.status == 504, "visitors that had gone got a 504")
    self.checks.expect(calls == 2, "what nobody waited for was not sent on, so 2 calls and not \(calls)")
    let begun = calls - (self.upstream.unbegun.count - unbegun)
    self.checks.expect(begun == 0, "the upstream began nothing of it, but \(begun)")
  }

  /// More than the upstream may get at once: pages that are loaded ahead give way to those that visitors wait for.
  private mutating func crush() async throws {
    let before = self.upstream.requestCount
    self.upstream.become(.held)
    async let first = self.visitors.get((41...44).map { "articles/\($0)" })
    await self.upstream.requests.reaches(before + 4)
    async let ahead = self.visitors.get((51...54).map { "articles/\($0)" }, headers: ["Priority": "u=7"])
    async let second = self.visitors.get((45...48).map { "articles/\($0)" }, headers: ["Priority": "u=1"])
    let shed = try await ahead
    self.upstream.become(.well)
    let served = try await first + second
    let calls = self.report("more than it may get at once", requests: 12, since: before, "pages ahead give way")
    self.checks.expect(served.allSatisfy { $0.status == 200 }, "all visitors got their articles")
    self.checks.expect(shed.allSatisfy { $0.status == 503 }, "pages loaded ahead were refused")
    self.checks.expect(calls == 8, "the upstream got what visitors waited for alone, so 8 calls and not \(calls)")
    let urgencies = (45...48).map { self.upstream.priority(of: $0) }
    self.checks.expect(urgencies.allSatisfy { $0 == .high }, "the upstream was told how urgent they were")
  }

  /// Somebody edits the settings, and the front sends more requests at once to the upstream from then on.
  private mutating func change() async throws {
    let before = self.upstream.requestCount
    try self.settings.write(permits: 8)
    // Once when the front began, and once now.
    await self.settings.applied.reaches(2)
    self.upstream.become(.held)
    async let answers = self.visitors.get((61...68).map { "articles/\($0)" })
    await self.upstream.requests.reaches(before + 8)
    self.upstream.become(.well)
    let replies = try await answers
    let calls = self.report("8 permits in the settings, not 4", requests: 8, since: before, "8 requests at once")
    self.checks.expect(replies.allSatisfy { $0.status == 200 }, "all visitors got their articles")
    self.checks.expect(self.front.limit.permits == 8 && calls == 8, "the limit is the one of the file")
  }

  /// Metrics, logs and traces agree about all of it.
  private mutating func checkNotices() {
    let notices = self.observed.notices
    for (name, count) in notices.sorted(by: { $0.key < $1.key }) {
      self.checks.expect(self.observed.entries(name) == count, "the log has \(count) entries for \(name)")
    }
    let list = notices.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    print("notices in metrics and log: \(list)")
    self.checks.expect(self.observed.runsInTraces > 0, "the runs are in the traces of the visitors' requests")
    print("runs in the traces of requests: \(self.observed.runsInTraces) of \(self.observed.total("runs"))")
  }
}
