import Foundation
import Operation
import OperationHTTP

/// The operations for jobs.
struct JobService: Sendable {
  let address: URL
  /// Whether the interval of the polls follows the answers.
  let followsValue: Bool

  /// A job, which is asked for again until it is done.
  func job(_ id: Int) -> some QueryRequest<Job, any Error> & Sendable {
    let followsValue = self.followsValue
    return HTTPQuery(self.address.appending(path: "jobs/\(id)"), path: ["jobs", id])
      .decode(Job.self)
      // The next poll is the next attempt.
      .retry(limit: 0)
      .rerun(every: { state in
        if !followsValue { return .milliseconds(30) }
        // A server that fails is asked less often.
        if state.error != nil { return .milliseconds(200) }
        guard let job = state.currentValue, !job.isDone else { return nil }
        return .milliseconds(job.askAgainAfter)
      })
  }

  /// Begins a job.
  var ordering: some MutationRequest<Order, Job, any Error> & Sendable {
    MutationOperation("orders") { (order: Order, context) in
      let request = try OperationHTTPRequest(self.address.appending(path: "jobs"), json: order)
      return try await context.send(request).decoded(as: Job.self)
    }
  }

  /// Begins a job again that is done. Its pages then ask until it is done once more.
  func restarting(_ id: Int) -> some MutationRequest<Void, Job, any Error> & Sendable {
    MutationOperation("orders", id, "restart") { (_: Void, context) in
      let address = self.address.appending(path: "jobs/\(id)/restart")
      return try await context.send(OperationHTTPRequest(address, method: "POST")).decoded(as: Job.self)
    }
    .invalidates(matching: ["jobs", id])
  }
}
