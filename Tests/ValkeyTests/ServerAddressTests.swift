#if SwiftOperationValkey && os(Linux)
  import OperationFleet
  import TestFixtures
  import Testing

  @testable import OperationValkey

  @Suite(.bounded) struct ServerAddressTests {
    @Test func `A connection string has hosts, a user, a password and a database`() throws {
      let whole = try ServerAddress("redis://user:pa%40s%3As@db.example:6380/3")
      expect(whole.hosts, equals: [.network(name: "db.example", port: "6380")])
      #expect(whole.user == "user" && whole.password == "pa@s:s" && whole.database == 3)
      expect("\(whole.name)", equals: "The server \"db.example:6380\", database 3,")
      let short = try ServerAddress("valkey://cache")
      expect(short.hosts, equals: [.network(name: "cache", port: "6379")])
      #expect(short.user == "default" && short.password == nil && short.database == 0)
      expect("\(short.name)", equals: "The server \"cache:6379\"")
      let several = try ServerAddress("Redis://:se@cret@a,b:1,[::1]:2,[::2]/")
      #expect(several.password == "se@cret" && several.user == "default")
      expect(
        several.hosts,
        equals: [
          .network(name: "a", port: "6379"), .network(name: "b", port: "1"), .network(name: "::1", port: "2"),
          .network(name: "::2", port: "6379"),
        ]
      )
      expect("\(several.name)", equals: "The server \"a:6379,b:1,[::1]:2,[::2]:6379\"")
      let local = try ServerAddress("unix://user:secret@/run/my%20socket?db=2")
      expect(local.hosts, equals: [.local(path: "/run/my socket")])
      #expect(local.user == "user" && local.password == "secret" && local.database == 2)
    }

    @Test(arguments: [
      "", "secret", "redis://", "redis://user:secret@", "redis://user:sec/ret@host", "redis://user:secret@host:x",
      "redis://user:secret@host:0", "redis://user:secret@host:70000", "redis://user:secret@a,,b",
      "redis://user:secret@host/x", "redis://user:secret@host/-1", "redis://user:secret@[::1",
      "redis://u:%zzsecret@host",
      "redis://user:secret%00@host", "redis://user:secret@host?db=1", "http://user:secret@host",
      "unix://user:secret@host/path", "unix://user:secret@", "unix:///path?secret=1",
    ])
    func `One that cannot be read is an error that shows no part of it`(connection: String) {
      let error = #expect(throws: FleetError.self) { try ValkeyFleet(connection: connection) }
      expect((error?.cause as? ValkeyError)?.code, equals: .invalidConnection)
      #expect(error?.message.contains("secret") == false && error?.message.contains("redis://user:password@") == true)
    }

    @Test(arguments: [("redis", false), ("valkey", false), ("rediss", true), ("VALKEYS", true)])
    func `The last letter of the scheme asks for TLS`(scheme: String, usesTLS: Bool) throws {
      let address = try ServerAddress("\(scheme)://user:secret@host")
      #expect(address.usesTLS == usesTLS && address.hosts == [.network(name: "host", port: "6379")])
    }

    @Test(arguments: ["", "a b", "ä", String(repeating: "a", count: 201)])
    func `A prefix that servers could take for something else is refused`(prefix: String) {
      let error = #expect(throws: FleetError.self) { try ValkeyFleet(connection: "redis://host", prefix: prefix) }
      expect((error?.cause as? ValkeyError)?.code, equals: .invalidConnection)
      expect(error?.message.contains("visible ASCII"), equals: true)
    }

    @Test(arguments: [
      ("LOADING Redis is loading the dataset in memory", "unavailable", "unreachable", "starting"),
      ("MASTERDOWN Link with MASTER is down", "unavailable", "unreachable", "primary"),
      ("READONLY You can't write against a read only replica.", "readOnly", "failed", "primary server"),
      ("MISCONF Errors writing to disk", "readOnly", "failed", "disk"),
      ("NOAUTH Authentication required.", "noRights", "failed", "redis://user:password@"),
      ("WRONGPASS invalid username-password pair", "noRights", "failed", "ACL LIST"),
      ("NOPERM User a has no permissions to run the 'info' command", "noRights", "failed", "ACL SETUSER"),
      ("ERR The user executing the script can't run this command or subcommand", "noRights", "failed", "ACL SETUSER"),
      ("OOM command not allowed when used memory > 'maxmemory'.", "full", "failed", "maxmemory"),
      ("BUSY Redis is busy running a script.", "busy", "timedOut", "SCRIPT KILL"),
      ("ERR max number of clients reached", "busy", "timedOut", "maxclients"),
      ("CROSSSLOT Keys in request don't hash to the same slot", "unsupported", "failed", "cluster-enabled no"),
      ("ERR unknown command 'HELLO'", "unsupported", "failed", "Redis 7.0"),
      ("ERR DB index is out of range", "invalidConnection", "unreachable", "databases"),
      ("WRONGTYPE Operation against a key holding the wrong kind of value", "failed", "failed", "another `prefix`"),
      ("ERR something else", "failed", "failed", "log of the server"),
    ])
    func `An error of the server is told in its words, with a remedy`(
      reply: String,
      code: String,
      fleetCode: String,
      remedy: String
    ) throws {
      let error = ValkeyError(reply: reply, try ServerAddress("redis://host").name)
      expect(error.code.description, equals: code)
      #expect(error.message.hasPrefix("The server \"host:6379\" says: \(reply.prefix(20))"))
      #expect(error.message.contains(remedy) && !error.message.contains(".."))
      let told = FleetError(error)
      #expect(told.code.description == fleetCode && told.message == error.message)
      expect((told.cause as? ValkeyError)?.code, equals: error.code)
    }
  }
#endif
