import Foundation

/// `fleet` tells a story of three processes and checks it; `fleet --without-fleet` is the same without what it is about.
/// `fleet measure` measures the backend with one process and with eight. `fleet bursts` counts the runs of 1,000 and of 5,000 keys that
/// four processes want at once. `fleet --backend valkey …` does it with Valkey or Redis.
@main
struct Main {
  static func main() async throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "node", arguments.count == 4, let mode = NodeProgram.Mode(rawValue: arguments[3]) {
      return await (try NodeProgram(name: arguments[1], connection: arguments[2], mode)).serve()
    }
    // A process that has died does not end this one.
    signal(SIGPIPE, SIG_IGN)
    var backend: Backend? = .postgresql
    if arguments.first == "--backend" {
      backend = arguments.count > 1 ? Backend(rawValue: arguments[1]) : nil
      arguments.removeFirst(min(2, arguments.count))
    }
    guard let backend else { usage() }
    let server: DatabaseServer
    do { server = try DatabaseServer(backend) } catch {
      print("\(error)")
      exit(2)
    }
    switch arguments {
    case [], ["--without-fleet"]:
      let failures = try await Story(server: server, isJoining: arguments.isEmpty).tell()
      print(failures == 0 ? "all checks hold" : "\(failures) checks do not hold")
      server.end()
      exit(failures == 0 ? 0 : 1)
    case ["measure"]:
      try await Measurements(server: server).print()
      server.end()
    case ["bursts"]:
      var isRight = true
      for count in [1_000, 5_000] {
        isRight = try await Bursts(server: server, keyCount: count).print() && isRight
      }
      server.end()
      exit(isRight ? 0 : 1)
    default:
      server.end()
      usage()
    }
  }

  private static func usage() -> Never {
    print("usage: fleet [--backend postgresql | --backend valkey] [--without-fleet | measure | bursts]")
    exit(2)
  }
}
