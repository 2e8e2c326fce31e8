import ArgumentParser
import Foundation
import Observation
import OperationDevtools
import PostService
import SharingOperation

@main
struct Dashboard: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dashboard",
    abstract: "Shows several shared operations on a live terminal screen, against a server that fails on purpose.",
    discussion: "On a terminal it runs until ^C. Piped, it prints a line for each change, and ends after a while."
  )

  @Option(help: "Seconds after which the dashboard ends; without a terminal 8 by default.")
  var seconds: Double?

  @Flag(help: "Shows the stores on a page in the browser, whose address is shown.")
  var devtools = false

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds < 1e6) {
      throw ValidationError("--seconds is a number above 0, not \(seconds).")
    }
  }

  @MainActor
  func run() async throws {
    let server = PostServer(archive: try .bundled())
    let api = PostAPI(baseURL: try await server.start())
    let simulation = Simulation()
    let client = OperationClient.dashboard(api: api, simulation: simulation)
    let page = self.devtools ? Devtools(client, allowsActions: true, simulation: simulation) : nil
    let model = DashboardModel(client: client, log: server.log)
    let address = try await page?.start()
    let output: any Output = TerminalScreen(page: address) ?? LineOutput(page: address)
    let ending = Ending(after: self.seconds ?? (output is LineOutput ? 8 : nil))
    let events = ServerEvents(server: server, model: model).start()

    let drawing = Task { @MainActor in
      for await rows in Observations({ model.rows }) { output.show(rows) }
    }
    let resizing = output.onResize { output.show(model.rows) }
    await ending.wait()

    for task in [drawing, events] { task.cancel() }
    resizing?.cancel()
    output.close()
    await page?.stop()
    await client.cancel()
    await server.stop()
  }
}
