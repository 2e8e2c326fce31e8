// swift-format-ignore-file: TypeNamesShouldBeCapitalized, AlwaysUseLowerCamelCase
// C has these names.

// What <sys/socket.h>, <netinet/in.h> and <sys/time.h> declare in another way than the headers of Linux.

public let SOCK_STREAM: Int32 = 1

public let SO_NOSIGPIPE: Int32 = 0x1022

public typealias sa_family_t = UInt8

public struct in_addr {
  public var s_addr: UInt32 = 0
}

public struct sockaddr_in {
  public var sin_len: UInt8 = 0
  public var sin_family: sa_family_t = 0
  public var sin_port: UInt16 = 0
  public var sin_addr = in_addr()

  public init() {}
}

public struct sockaddr_un {
  public var sun_len: UInt8 = 0
  public var sun_family: sa_family_t = 0
  public var sun_path: (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64) = (
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  )

  public init() {}
}

public struct timeval {
  public var tv_sec: Int
  public var tv_usec: Int32

  public init(tv_sec: Int, tv_usec: Int32) {
    self.tv_sec = tv_sec
    self.tv_usec = tv_usec
  }
}
