import Operation
import PostService

/// What happens on the pages, scene by scene, with a check of each claim.
struct Story: Sendable {
  let transcript: Transcript
  let jobs: JobArchive
  let service: JobService
  let client = OperationClient(storeCreator: .default(networkObserver: nil, activityObserver: nil))

  func play() async throws {
    try await self.wait()
    try await self.share()
    try await self.slowDown()
    try await self.fail()
    try await self.leave()
  }

  private func order(_ steps: Int, askAgainAfter: Int = 30) async throws -> Job {
    let order = Order(steps: steps, askAgainAfter: askAgainAfter)
    return try await self.client.store(for: self.service.ordering).mutate(with: order)
  }

  private func page(_ name: String, of job: Job) -> Page {
    Page(name, self.client.store(for: self.service.job(job.id)), transcript: self.transcript)
  }

  /// Waits longer than a poll takes, to see that there is none.
  private func checkQuiet(_ claim: String, about job: Job) async throws {
    let count = self.jobs.questions(about: job.id).count
    try await Task.sleep(for: .milliseconds(400))
    self.transcript.check(claim, self.jobs.questions(about: job.id).count, equals: count)
  }

  private func wait() async throws {
    self.transcript.title("1. A job is asked for until it is done, and begun again")
    let job = try await self.order(4)
    let page = self.page("Page", of: job)
    await page.isDone()
    self.transcript.check("each step was shown", page.shown, equals: ["1 of 4", "2 of 4", "3 of 4", "done"])
    self.transcript.check("by one question each", self.jobs.questions(about: job.id).count, equals: 4)
    try await self.checkQuiet("a job that is done is not asked for", about: job)

    _ = try await self.client.store(for: self.service.restarting(job.id)).mutate()
    await page.shows { $0.currentValue?.done == 1 }
    await page.isDone()
    self.transcript.check(
      "a job that begins again is asked for again",
      self.jobs.questions(about: job.id).count,
      equals: 8
    )
    page.close()
  }

  private func share() async throws {
    self.transcript.title("2. Two pages show one job")
    let job = try await self.order(4)
    let (page, other) = (self.page("Page", of: job), self.page("Other page", of: job))
    await page.isDone()
    await other.isDone()
    self.transcript.check("both show each step", page.shown == other.shown && page.shown.count == 4)
    self.transcript.check("the server is asked once for both", self.jobs.questions(about: job.id).count, equals: 4)
    page.close()
    other.close()
  }

  private func slowDown() async throws {
    self.transcript.title("3. The answer names the pause before the next question")
    let job = try await self.order(3, askAgainAfter: 150)
    let page = self.page("Page", of: job)
    await page.isDone()
    let questions = self.jobs.questions(about: job.id)
    let pauses = zip(questions.dropFirst(), questions).map { $0 - $1 }
    self.transcript.check("no question comes earlier", pauses.allSatisfy { $0 >= .milliseconds(150) })
    page.close()
  }

  private func fail() async throws {
    self.transcript.title("4. The server fails once")
    let job = try await self.order(4)
    self.jobs.fail(question: 3, about: job.id)
    let page = self.page("Page", of: job)
    await page.isDone()
    let expected = ["1 of 4", "2 of 4", "2 of 4, not up to date", "3 of 4", "done"]
    self.transcript.check("the last step stays on the page", page.shown, equals: expected)
    let questions = self.jobs.questions(about: job.id)
    self.transcript.check("it was asked once more", questions.count, equals: 5)
    self.transcript.check(
      "after a longer pause",
      questions.count > 3 && questions[3] - questions[2] >= .milliseconds(200)
    )
    page.close()
  }

  private func leave() async throws {
    self.transcript.title("5. The page is closed before the job is done")
    let job = try await self.order(6)
    let page = self.page("Page", of: job)
    await page.shows { $0.currentValue?.done == 2 }
    page.close()
    // What was under way when it was closed ends before the count.
    try await Task.sleep(for: .milliseconds(100))
    try await self.checkQuiet("a page that is closed asks for nothing", about: job)
    let again = self.page("Page", of: job)
    await again.isDone()
    self.transcript.check("one that is opened again goes on to the end", again.shown.last, equals: "done")
    try await self.checkQuiet("and then it is quiet", about: job)
    again.close()
  }
}
