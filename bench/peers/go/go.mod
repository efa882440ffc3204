module raddle/bench/peers/go

go 1.19
