import ArgumentParser
import Foundation
import Operation

/// The service: it polls, keeps settings up to date, and drops stores that it does not need when memory is short.
struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Watches an endpoint until it is ended by a signal.")

  @Option(help: "Where the endpoint is, such as http://10.77.0.2:8080.", transform: Endpoint.init(address:))
  var endpoint: Endpoint

  @Option(help: "How many seconds lie between two polls.")
  var interval = 1.0

  func validate() throws {
    guard self.interval > 0 else { throw ValidationError("--interval is a number of seconds above 0.") }
  }

  func run() async throws {
    let transcript = Transcript()
    OperationWarning.reporter = { transcript.say(.warning, "\($0)") }
    // A client with the defaults: on Linux it observes the network, the activity of the process, and its memory.
    let client = OperationClient()
    let surroundings = Surroundings.observe(transcript)
    let service = Service(endpoint: self.endpoint, client: client, transcript: transcript)
    let subscriptions = await service.start(polling: .seconds(self.interval))
    transcript.say(.agent, "is ready; its process is \(ProcessInfo.processInfo.processIdentifier)")
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
      // A signal ends the process.
    }
    withExtendedLifetime((surroundings, subscriptions, service)) {}
  }
}
