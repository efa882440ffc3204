module raddle/peers/http

go 1.19
