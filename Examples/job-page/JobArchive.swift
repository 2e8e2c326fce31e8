import FlyingFox
import Foundation
import PostService
import Synchronization

/// The jobs of the server. Each takes a step when it is asked for, so that the story does not depend on time.
final class JobArchive: Sendable {
  private struct Content: Sendable {
    var jobs: [Int: Job] = [:]
    /// When each job was asked for.
    var questions: [Int: [ContinuousClock.Instant]] = [:]
    /// The numbers of the questions that fail.
    var faults: [Int: Int] = [:]
  }

  private let content = Mutex(Content())
  private let say: @Sendable (String) -> Void

  init(say: @escaping @Sendable (String) -> Void) {
    self.say = say
  }

  /// When a job was asked for.
  func questions(about id: Int) -> [ContinuousClock.Instant] {
    self.content.withLock { $0.questions[id] ?? [] }
  }

  /// Answers one question about a job with the status 503; the first has the number 1.
  func fail(question number: Int, about id: Int) {
    self.content.withLock { $0.faults[id] = number }
  }

  func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    let parts = request.path.split(separator: "/").map(String.init)
    let body = try await request.bodyData
    switch (request.method, parts.count) {
    case (.POST, 1):
      let order = try JSONDecoder().decode(Order.self, from: body)
      let job = self.content.withLock { content in
        let job = Job(id: content.jobs.count + 1, steps: order.steps, askAgainAfter: order.askAgainAfter)
        content.jobs[job.id] = job
        return job
      }
      return try .encoding(job)
    case (.POST, 3):
      return try self.withJob(parts[1]) { job, _ in job.done = 0 }
    case (.GET, 2):
      return try self.withJob(parts[1]) { job, content in
        content.questions[job.id, default: []].append(.now)
        if content.faults[job.id] == content.questions[job.id]?.count { throw Busy() }
        job.done = min(job.done + 1, job.steps)
      }
    default: return HTTPResponse(statusCode: .notFound)
    }
  }

  private struct Busy: Error {}

  private func withJob(_ id: String, _ body: (inout Job, inout Content) throws -> Void) throws -> HTTPResponse {
    do {
      let job = try self.content.withLock { content -> Job? in
        guard let id = Int(id), var job = content.jobs[id] else { return nil }
        defer { content.jobs[id] = job }
        try body(&job, &content)
        return job
      }
      guard let job else { return HTTPResponse(statusCode: .notFound) }
      self.say("job \(job.id): step \(job.done) of \(job.steps)")
      return try .encoding(job)
    } catch is Busy {
      self.say("job \(id): refuses")
      return HTTPResponse(statusCode: .serviceUnavailable)
    }
  }
}

extension HTTPResponse {
  fileprivate static func encoding(_ job: Job) throws -> HTTPResponse {
    HTTPResponse(statusCode: .ok, headers: [.contentType: "application/json"], body: try JSONEncoder().encode(job))
  }
}
