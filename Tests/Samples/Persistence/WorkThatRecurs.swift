import Foundation
import Operation
import OperationPersistence

struct Reminder: Codable, Sendable {
  let id: Int
  let date: Date
}

let note = Reminder(id: 1, date: Date())
let folder = "cache"
let nextMorning = Date()
let observer = MockNetworkObserver(initialStatus: .connected)

struct Sending<Arguments: Codable & Sendable>: MutationRequest {
  let path: OperationPath = ["sending"]

  init(server: Server) {}

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}

typealias SendReminder = Sending<Reminder>
typealias CleanUp = Sending<String>
typealias SendReport = Sending<String>
typealias Upload = Sending<String>
